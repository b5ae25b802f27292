// SPDX-License-Identifier: BSL-1.0
/// .safetensors files: those that keep the rules are read as they were made, in each way of reading; those of which
/// one rule was broken are refused by a FileError; any other bytes are refused, or are tensors that are written
/// and read back themselves.
#include <byre/interop/safetensors.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "../target.hpp"
#include "model_file.hpp"
#include "support/temporary_folder.hpp"

namespace byre::fuzz {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::filesystem::path path_of_model() {
  static const test::TemporaryFolder folder;
  return folder / "model.safetensors";
}

std::string described(const std::pair<std::string, Tensor>& named) {
  return named.first + ": " + to_string(named.second.sizes()) + " of " +
         name_of(named.second.dtype());
}

bool is_same(const Tensor& found, const Tensor& wanted) {
  const Tensor left = found.contiguous();
  const Tensor right = wanted.contiguous();
  return left.dtype() == right.dtype() && left.sizes() == right.sizes() &&
         (right.nbytes() == 0 ||
          std::memcmp(left.raw_data(), right.raw_data(), right.nbytes()) == 0);
}

/// Both by name, as the order of those without elements is that of the header.
void expect_same(const SafetensorsFile& found, const NamedTensors& wanted,
                 const std::vector<std::pair<std::string, std::string>>& metadata,
                 const char* how) {
  if (found.metadata != metadata || found.tensors.size() != wanted.size()) {
    fail("%zu tensors and %zu keys were written, and %zu and %zu are %s", wanted.size(),
         metadata.size(), found.tensors.size(), found.metadata.size(), how);
  }
  for (const auto& named : wanted) {
    const auto same =
        std::ranges::find(found.tensors, named.first, &std::pair<std::string, Tensor>::first);
    if (same == found.tensors.end() || !is_same(same->second, named.second)) {
      fail("%s is not what is %s", described(named).c_str(), how);
    }
  }
}

/// In each way, once its bytes are in the file too.
void expect_read(const std::string& bytes, const NamedTensors& tensors,
                 const std::vector<std::pair<std::string, std::string>>& metadata) {
  expect_same(read_safetensors(bytes_of(bytes)), tensors, metadata, "read from memory");
  expect_same(load_safetensors(path_of_model()), tensors, metadata, "read");
  expect_same(map_safetensors(path_of_model()), tensors, metadata, "mapped");
}

void write_and_read(const SafetensorsFile& file) {
  save_safetensors(path_of_model(), file.tensors, file.metadata);
  expect_read(test::read_file(path_of_model()), file.tensors, file.metadata);
}

void expect_refused(const std::string& bytes, const char* why) {
  const auto is_refused = [&](const auto& read) {
    try {
      static_cast<void>(read());
    } catch (const FileError& refusal) {
      trace("%s", refusal.what());
      return true;
    }
    return false;
  };
  if (!is_refused([&] { return read_safetensors(bytes_of(bytes)); }) ||
      !is_refused([] { return load_safetensors(path_of_model()); }) ||
      !is_refused([] { return map_safetensors(path_of_model()); })) {
    fail("%s is not refused: %s", why, bytes.c_str() + 8);
  }
}

void keep_the_rules_or_break_one(Choices input) {
  const std::size_t choice = input.below(5);
  const std::size_t rule = input.byte();
  const std::size_t entry = input.byte();
  ModelFile file(input);
  const char* const broken = choice == 0 ? nullptr : file.break_a_rule(choice > 1, rule, entry);
  const std::string bytes = file.bytes();
  trace("%s: %s", broken == nullptr ? "as it is" : broken, bytes.c_str() + 8);
  test::write_file(path_of_model(), bytes);
  if (broken != nullptr) {
    expect_refused(bytes, broken);
  } else {
    expect_read(bytes, file.tensors(), file.metadata());
    if (rule % 4 == 0) {  // each time is one more flush of a disk
      write_and_read({file.tensors(), file.metadata()});
    }
  }
}

void read_anything(std::string_view bytes) {
  try {
    const SafetensorsFile file = read_safetensors(bytes_of(bytes));
    trace("%zu tensors", file.tensors.size());
    write_and_read(file);
  } catch (const FileError& refusal) {
    trace("%s", refusal.what());
  }
}

/// A header with the right length in front, and some zeros behind.
void read_a_header(Choices input) {
  const std::size_t data_nbytes = input.byte();
  const std::string_view text = input.rest();
  std::string bytes;
  for (unsigned at = 0; at < 8; ++at) {
    bytes += static_cast<char>(std::uint64_t{text.size()} >> 8 * at & 0xFF);
  }
  read_anything(bytes.append(text).append(data_nbytes, '\0'));
}

}  // namespace

const char* const target_name = "safetensors";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  using namespace byre::fuzz;
  Choices input(bytes, nbytes);
  try {
    switch (input.below(4)) {
      case 0:
        read_anything(input.rest());
        break;
      case 1:
        read_a_header(input);
        break;
      default:
        keep_the_rules_or_break_one(input);
    }
  } catch (const std::exception& error) {
    fail("an error that nothing calls for: %s", error.what());
  }
  return 0;
}
