// SPDX-License-Identifier: BSL-1.0
/// The fuzz target of .safetensors files. Every way of reading must read valid files as they were
/// built. Files that break one rule must be rejected with a FileError. Any other bytes must be
/// rejected, or be tensors that can be written and read back.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "../files.hpp"
#include "model_file.hpp"

namespace byre::fuzz {
namespace {

/// Sorts by name, because tensors without elements are read in the order of the header.
Contents sorted(Contents file) {
  std::ranges::sort(file.tensors, {}, &std::pair<std::string, Tensor>::first);
  return file;
}

constexpr Format format{
    .save = [](const auto& path,
               const Contents& file) { save_safetensors(path, file.tensors, file.metadata); },
    .load = [](const auto& path) { return sorted(load_safetensors(path)); },
    .map = [](const auto& path) { return sorted(map_safetensors(path)); },
    .read = [](auto bytes) { return sorted(read_safetensors(bytes)); }};

void read_valid_or_broken_file(Choices input) {
  const std::size_t choice = input.below(5);
  const std::size_t rule = input.byte();
  const std::size_t entry = input.byte();
  ModelFile file(input);
  const char* const broken = choice == 0 ? nullptr : file.break_a_rule(choice > 1, rule, entry);
  const std::string bytes = file.bytes();
  trace("%s: %s", broken == nullptr ? "valid" : broken, bytes.c_str() + 8);
  if (broken != nullptr) {
    expect_refused(format, bytes, broken);
    return;
  }
  const Contents contents = sorted({file.tensors(), file.metadata()});
  expect_read(format, bytes, contents);
  if (rule % 4 == 0) {  // not always, because each save flushes a disk
    save_and_read(format, contents);
  }
}

/// Reads a header with a correct length field, followed by some zero bytes.
void read_header(Choices input) {
  const std::size_t data_nbytes = input.byte();
  const std::string_view text = input.rest();
  std::string bytes;
  for (unsigned at = 0; at < 8; ++at) {
    bytes += static_cast<char>(std::uint64_t{text.size()} >> 8 * at & 0xFF);
  }
  read_anything(format, bytes.append(text).append(data_nbytes, '\0'));
}

void read_file(Choices input) {
  read_anything(format, std::string(input.rest()));
}

}  // namespace

const char* const target_name = "safetensors";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  using namespace byre::fuzz;
  return run_one_of({read_file, read_header, read_valid_or_broken_file, read_valid_or_broken_file},
                    bytes, nbytes);
}
