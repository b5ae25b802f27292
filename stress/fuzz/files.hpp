// SPDX-License-Identifier: BSL-1.0
/// Checks for the fuzz targets of file formats. All ways of reading must return saved contents. If
/// the bytes are arbitrary, either all ways of reading reject them, or all return equal contents,
/// which can then be saved and read back.
#pragma once

#include <byre/interop/safetensors.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "support/temporary_folder.hpp"
#include "target.hpp"

namespace byre::fuzz {

/// Tensors, and metadata if the format has any.
using Contents = SafetensorsFile;

struct Format {
  void (*save)(const std::filesystem::path& path, const Contents& contents);
  Contents (*load)(const std::filesystem::path& path);
  Contents (*map)(const std::filesystem::path& path);
  Contents (*read)(std::span<const std::byte> bytes);
  /// Whether save() accepts names with a zero byte, which files of other writers may have.
  bool saves_zero_bytes = true;
  /// Part of the error message of map() for files that map() rejects although the other ways read
  /// them; null if there are no such files.
  const char* refuses_to_map = nullptr;
};

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Sets each byte of the elements to a value of `next()`; for dtype bool, to 0 or 1.
template <class Next>
void fill(Tensor& tensor, Next next) {
  auto* const bytes =
      tensor.nbytes() == 0 ? nullptr : static_cast<std::uint8_t*>(tensor.mutable_raw_data());
  for (std::size_t at = 0; at < tensor.nbytes(); ++at) {
    const std::uint8_t byte = next();
    bytes[at] = tensor.dtype() == DType::boolean ? byte % 2 : byte;
  }
}

/// For example, "f: [2, 3] of f32".
inline std::string described(const std::string& name, const Tensor& tensor) {
  return name + ": " + to_string(tensor.sizes()) + " of " + name_of(tensor.dtype());
}

inline const std::filesystem::path& scratch() {
  static const test::TemporaryFolder folder;
  static const std::filesystem::path path = folder / "file";
  return path;
}

inline bool is_same(const Tensor& found, const Tensor& wanted) {
  const Tensor left = found.contiguous();
  const Tensor right = wanted.contiguous();
  return left.dtype() == right.dtype() && left.sizes() == right.sizes() &&
         (right.nbytes() == 0 ||
          std::memcmp(left.raw_data(), right.raw_data(), right.nbytes()) == 0);
}

inline void expect_same(const Contents& found, const Contents& wanted, const char* how) {
  if (found.metadata != wanted.metadata || found.tensors.size() != wanted.tensors.size()) {
    fail("%zu tensors and %zu keys were %s, expected %zu and %zu", found.tensors.size(),
         found.metadata.size(), how, wanted.tensors.size(), wanted.metadata.size());
  }
  for (std::size_t at = 0; at < found.tensors.size(); ++at) {
    const auto& [name, tensor] = found.tensors[at];
    const auto& [wanted_name, wanted_tensor] = wanted.tensors[at];
    if (name != wanted_name || !is_same(tensor, wanted_tensor)) {
      fail("tensor %zu, %s, was %s as %s", at, described(wanted_name, wanted_tensor).c_str(), how,
           described(name, tensor).c_str());
    }
  }
}

/// The contents that a reader returned, or the message of the error that it threw.
struct Outcome {
  std::optional<Contents> contents;
  std::string refusal;
};

template <class Read>
Outcome outcome_of(const Read& read) {
  try {
    return {read(), ""};
  } catch (const FileError& error) {
    trace("%s", error.what());
    return {std::nullopt, error.what()};
  }
}

/// The result of one way of reading: from memory of exactly the size of the file, from a file, or
/// from a mapping.
struct ReadResult {
  const char* name;
  Outcome outcome;
};
inline std::array<ReadResult, 3> read_by_each_method(const Format& format,
                                                     const std::string& bytes) {
  const auto exact = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
  std::memcpy(exact.get(), bytes.data(), bytes.size());
  const auto read = [&] { return format.read({exact.get(), bytes.size()}); };
  return {ReadResult{"read from memory", outcome_of(read)},
          ReadResult{"loaded", outcome_of([&] { return format.load(scratch()); })},
          ReadResult{"mapped", outcome_of([&] { return format.map(scratch()); })}};
}

inline void expect_read(const std::array<ReadResult, 3>& readings, const Contents& contents) {
  for (const auto& [name, outcome] : readings) {
    if (!outcome.contents) {
      fail("saved contents were not %s: %s", name, outcome.refusal.c_str());
    }
    expect_same(*outcome.contents, contents, name);
  }
}

inline bool has_zero_bytes(const Contents& contents) {
  for (const auto& [name, tensor] : contents.tensors) {
    if (name.find('\0') != name.npos) {
      return true;
    }
  }
  return false;
}

inline void save_and_read(const Format& format, const Contents& contents) {
  format.save(scratch(), contents);
  expect_read(read_by_each_method(format, test::read_file(scratch())), contents);
}

/// Checks that every way of reading returns `contents` for `bytes`, which byre did not write.
inline void expect_read(const Format& format, const std::string& bytes, const Contents& contents) {
  test::write_file(scratch(), bytes);
  expect_read(read_by_each_method(format, bytes), contents);
}

inline void expect_refused(const Format& format, const std::string& bytes, const char* why) {
  test::write_file(scratch(), bytes);
  for (const auto& [name, outcome] : read_by_each_method(format, bytes)) {
    if (outcome.contents) {
      fail("%s is %s", why, name);
    }
  }
}

inline void read_anything(const Format& format, const std::string& bytes) {
  test::write_file(scratch(), bytes);
  const auto readings = read_by_each_method(format, bytes);
  const Outcome& read = readings[0].outcome;
  for (const auto& [name, outcome] : readings) {
    const auto says = [](const Outcome& that, const char* words) {
      return words != nullptr && that.refusal.find(words) != that.refusal.npos;
    };
    if (outcome.contents && read.contents) {
      expect_same(*outcome.contents, *read.contents, name);
    } else if (outcome.contents.has_value() != read.contents.has_value()) {
      // map() does not check CRCs.
      const bool may_differ = &outcome == &readings[2].outcome &&
                              (says(read, "CRC error") || says(outcome, format.refuses_to_map));
      if (!may_differ) {
        fail("%s and read from memory disagree: %s%s", name, read.refusal.c_str(),
             outcome.refusal.c_str());
      }
    }
  }
  if (read.contents && (format.saves_zero_bytes || !has_zero_bytes(*read.contents))) {
    save_and_read(format, readings[2].outcome.contents.value_or(*read.contents));
  }
}

/// Runs one of `acts`, which the first byte of the input chooses. If an act throws, the fuzzer has
/// found an error.
inline int run_one_of(void (*const (&acts)[4])(Choices), const std::uint8_t* bytes,
                      std::size_t nbytes) {
  Choices input(bytes, nbytes);
  const std::size_t chosen = input.below(4);
  try {
    acts[chosen](input);
  } catch (const std::exception& error) {
    fail("an unexpected error: %s", error.what());
  }
  return 0;
}

}  // namespace byre::fuzz
