// SPDX-License-Identifier: BSL-1.0
// The program that numpy_test.py runs:
//     tensor_files load|map IN OUT [<|> VERSION]
// reads or maps the .npy file IN and writes it to OUT, in the given byte order and format version;
//     tensor_files load|map IN.npz OUT.npz stored|deflated
// reads or maps an archive and writes it, with or without compression;
//     tensor_files print THRESHOLD EDGE PRECISION WIDTH FILE...
// prints .npy files with these PrintOptions, with a form feed after each file.
#include <byre/interop/npy.hpp>
#include <byre/interop/npz.hpp>
#include <byre/tensor/print.hpp>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>

namespace {

int complain(const char* what) {
  std::fprintf(stderr, "tensor_files: %s\n", what);
  return 2;
}

int run(std::span<const char* const> arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if ((arguments.size() == 3 || arguments.size() == 5) && (command == "load" || command == "map")) {
    byre::NpyFormat format;
    if (arguments.size() == 5) {
      format.byte_order = *arguments[3] == '<' ? std::endian::little : std::endian::big;
      format.version = static_cast<unsigned>(std::atoi(arguments[4]));
    }
    byre::save_npy(arguments[2],
                   command == "load" ? byre::load_npy(arguments[1]) : byre::map_npy(arguments[1]),
                   format);
    return 0;
  }
#if BYRE_NPZ
  if (arguments.size() == 4 && (command == "load" || command == "map")) {
    const byre::NamedTensors tensors =
        command == "load" ? byre::load_npz(arguments[1]) : byre::map_npz(arguments[1]);
    byre::save_npz(arguments[2], tensors,
                   std::string(arguments[3]) == "deflated" ? byre::NpzCompression::deflated
                                                           : byre::NpzCompression::stored);
    return 0;
  }
#endif
  if (arguments.size() < 5 || command != "print") {
    return complain("invalid arguments. See the comment in tensor_files.cpp.");
  }
  byre::PrintOptions options;
  options.threshold = std::atoll(arguments[1]);
  options.edge_items = std::atoll(arguments[2]);
  options.precision = std::atoi(arguments[3]);
  options.line_width = static_cast<std::size_t>(std::atoll(arguments[4]));
  for (const char* path : arguments.subspan(5)) {
    std::printf("%s\f", to_string(byre::load_npy(path), options).c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::span<const char* const>(argv + 1, static_cast<std::size_t>(argc - 1)));
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}
