// SPDX-License-Identifier: BSL-1.0
/// .npz files: what is written is read back and mapped back; any other bytes are refused by a FileError or are
/// tensors, of which the three ways of reading agree.
#include <byre/interop/npz.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "../target.hpp"
#include "mutation.hpp"
#include "support/temporary_folder.hpp"

namespace byre::fuzz {
namespace {

constexpr std::array dtypes{DType::boolean, DType::u8,  DType::i8,  DType::i16, DType::i32,
                            DType::i64,     DType::f16, DType::f32, DType::f64, DType::complex64};

const std::filesystem::path& scratch() {
  static const test::TemporaryFolder folder;
  static const std::filesystem::path path = folder / "tensors.npz";
  return path;
}

void expect_same(const NamedTensors& found, const NamedTensors& wanted, const char* how) {
  if (found.size() != wanted.size()) {
    fail("%zu tensors are %s, and not %zu", found.size(), how, wanted.size());
  }
  for (std::size_t at = 0; at < found.size(); ++at) {
    const Tensor left = found[at].second.contiguous();
    const Tensor right = wanted[at].second.contiguous();
    if (found[at].first != wanted[at].first || left.dtype() != right.dtype() ||
        left.sizes() != right.sizes()) {
      fail("tensor %zu, %s, is %s as %s", at, wanted[at].first.c_str(), how,
           found[at].first.c_str());
    }
    if (right.nbytes() != 0 &&
        std::memcmp(left.raw_data(), right.raw_data(), right.nbytes()) != 0) {
      fail("the elements of tensor %zu that are %s are others", at, how);
    }
  }
}

/// What reading gives, or what was said.
struct Outcome {
  std::optional<NamedTensors> tensors;
  std::string refusal;
};

template <class Read>
Outcome outcome_of(const Read& read) {
  try {
    return {read(), ""};
  } catch (const FileError& error) {
    return {std::nullopt, error.what()};
  }
}

Outcome read_exactly(const std::string& file) {
  const auto exact = std::make_unique_for_overwrite<std::byte[]>(file.size());
  std::memcpy(exact.get(), file.data(), file.size());
  return outcome_of([&] { return read_npz({exact.get(), file.size()}); });
}

void save_and_read(const NamedTensors& tensors, NpzCompression compression) {
  save_npz(scratch(), tensors, compression);
  expect_same(load_npz(scratch()), tensors, "loaded");
  expect_same(map_npz(scratch()), tensors, "mapped");
  const Outcome read = read_exactly(test::read_file(scratch()));
  if (!read.tensors) {
    fail("what was saved is refused: %s", read.refusal.c_str());
  }
  expect_same(*read.tensors, tensors, "read from memory");
}

/// A name may have a zero byte in a file of somebody else, and may not in one of ours.
bool has_zero_bytes(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (name.find('\0') != name.npos) {
      return true;
    }
  }
  return false;
}

void read_anything(const std::string& file) {
  const Outcome read = read_exactly(file);
  trace("%s", read.tensors ? "it is read" : read.refusal.c_str());
  test::write_file(scratch(), file);
  const Outcome loaded = outcome_of([] { return load_npz(scratch()); });
  if (loaded.tensors.has_value() != read.tensors.has_value()) {
    fail("of memory and file one is refused: %s%s", read.refusal.c_str(), loaded.refusal.c_str());
  }
  const Outcome mapped = outcome_of([] { return map_npz(scratch()); });
  if (!read.tensors) {
    if (mapped.tensors && read.refusal.find("CRC error") == std::string::npos) {
      fail("what is mapped is refused when read: %s", read.refusal.c_str());
    }
    return;
  }
  if (!mapped.tensors) {
    fail("what is read is refused when mapped: %s", mapped.refusal.c_str());
  }
  expect_same(*loaded.tensors, *read.tensors, "loaded");
  expect_same(*mapped.tensors, *read.tensors, "mapped");
  if (!has_zero_bytes(*read.tensors)) {
    save_and_read(*mapped.tensors, NpzCompression::stored);
  }
}

Tensor some_tensor(Choices& input) {
  const DType dtype = dtypes[input.below(dtypes.size())];
  const bool is_transposed = input.below(2) != 0;
  Dims sizes(input.below(4));
  for (std::int64_t& size : sizes) {
    size = static_cast<std::int64_t>(input.below(6));
  }
  Tensor tensor = Tensor::zeros(sizes, dtype);
  if (tensor.nbytes() != 0) {
    auto* const bytes = static_cast<std::uint8_t*>(tensor.mutable_raw_data());
    // One byte for all of them leaves the rest of a short input to what comes next.
    const std::uint8_t byte = input.byte();
    for (std::size_t at = 0; at < tensor.nbytes(); ++at) {
      bytes[at] = static_cast<std::uint8_t>(dtype == DType::boolean ? byte % 2 : byte * at);
    }
  }
  return is_transposed && tensor.ndim() > 1 ? tensor.transpose(0, 1) : tensor;
}

/// Names that differ, of any bytes but zero.
NamedTensors some_tensors(Choices& input) {
  NamedTensors tensors(input.below(4));
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    std::string& name = tensors[at].first;
    name.assign(at, 'x');
    for (std::size_t left = input.below(8); left > 0; --left) {
      name.insert(name.begin(), static_cast<char>(1 + input.below(119)));  // below 'x'
    }
    tensors[at].second = some_tensor(input);
  }
  return tensors;
}

NpzCompression some_compression(Choices& input) {
  return input.below(2) == 0 ? NpzCompression::stored : NpzCompression::deflated;
}

void write_and_change(Choices& input) {
  const NpzCompression compression = some_compression(input);
  save_npz(scratch(), some_tensors(input), compression);
  std::string archive = test::read_file(scratch());
  for (int change = 0; change < 8 && !input.is_empty(); ++change) {
    mutate_archive(archive, input);
  }
  read_anything(archive);
}

}  // namespace

const char* const target_name = "npz";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  using namespace byre::fuzz;
  Choices input(bytes, nbytes);
  try {
    switch (input.below(4)) {
      case 0: {
        const byre::NpzCompression compression = some_compression(input);
        save_and_read(some_tensors(input), compression);
        break;
      }
      case 1:
        read_anything(std::string(input.rest()));
        break;
      default:
        write_and_change(input);
    }
  } catch (const std::exception& error) {
    fail("an error that nothing calls for: %s", error.what());
  }
  return 0;
}
