// SPDX-License-Identifier: BSL-1.0
/// The fuzz target of .npz files. Written tensors must be read back and mapped back. Any other
/// bytes must be rejected with a FileError, or be tensors that all three ways of reading return
/// with equal contents.
#include <byre/interop/npz.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "../files.hpp"
#include "mutation.hpp"
#include "support/temporary_folder.hpp"

namespace byre::fuzz {
namespace {

constexpr std::array dtypes{DType::boolean, DType::u8,  DType::i8,  DType::i16, DType::i32,
                            DType::i64,     DType::f16, DType::f32, DType::f64, DType::complex64};

template <NpzCompression compression>
constexpr Format format{
    .save = [](const auto& path,
               const Contents& file) { save_npz(path, file.tensors, compression); },
    .load =
        [](const auto& path) {
          return Contents{load_npz(path), {}};
        },
    .map =
        [](const auto& path) {
          return Contents{map_npz(path), {}};
        },
    .read =
        [](auto bytes) {
          return Contents{read_npz(bytes), {}};
        },
    .saves_zero_bytes = false};
constexpr const Format& stored = format<NpzCompression::stored>;

Tensor some_tensor(Choices& input) {
  const DType dtype = dtypes[input.below(dtypes.size())];
  const bool is_transposed = input.below(2) != 0;
  Dims sizes(input.below(4));
  for (std::int64_t& size : sizes) {
    size = static_cast<std::int64_t>(input.below(6));
  }
  Tensor tensor = Tensor::zeros(sizes, dtype);
  if (tensor.nbytes() != 0) {
    // Using one byte for all elements leaves the rest of a short input for later choices.
    const std::uint8_t byte = input.byte();
    std::uint8_t at = 0;
    fill(tensor, [&] { return static_cast<std::uint8_t>(byte * at++); });
  }
  return is_transposed && tensor.ndim() > 1 ? tensor.transpose(0, 1) : tensor;
}

/// Tensors with distinct names. Names may contain any byte but zero.
NamedTensors some_tensors(Choices& input) {
  NamedTensors tensors(input.below(4));
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    std::string& name = tensors[at].first;
    name.assign(at, 'x');
    for (std::size_t left = input.below(8); left > 0; --left) {
      name.insert(name.begin(), static_cast<char>(1 + input.below(119)));  // a character below 'x'
    }
    tensors[at].second = some_tensor(input);
  }
  return tensors;
}

const Format& some_compression(Choices& input) {
  return input.below(2) == 0 ? stored : format<NpzCompression::deflated>;
}

void write_and_change(Choices input) {
  static const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "tensors.npz";
  const Format& compression = some_compression(input);
  compression.save(path, {some_tensors(input), {}});
  std::string archive = test::read_file(path);
  for (int change = 0; change < 8 && !input.is_empty(); ++change) {
    mutate_archive(archive, input);
  }
  read_anything(stored, archive);
}

void save_some(Choices input) {
  const Format& compression = some_compression(input);
  save_and_read(compression, {some_tensors(input), {}});
}

void read_file(Choices input) {
  read_anything(stored, std::string(input.rest()));
}

}  // namespace

const char* const target_name = "npz";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  using namespace byre::fuzz;
  return run_one_of({save_some, read_file, write_and_change, write_and_change}, bytes, nbytes);
}
