// SPDX-License-Identifier: BSL-1.0
/// The main program of a fuzz target in builds without libFuzzer. It runs the inputs of a corpus,
/// and random mutants of them. If an input crashes the program, the file crash_input_TARGET
/// contains that input.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "support/command_line.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"
#include "target.hpp"

namespace byre::fuzz {
namespace {

namespace fs = std::filesystem;

/// The current input is stored in this file, which is removed at the end.
const fs::path current_input = std::string("crash_input_") + target_name;

void run(const std::string& input) {
  test::write_file(current_input, input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

/// The contents of the files, and of all files in the folders, sorted by name.
std::vector<std::string> inputs_of(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    if (fs::is_directory(path)) {
      files.insert(files.end(), fs::directory_iterator(path), fs::directory_iterator());
    } else {
      files.emplace_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const fs::path& file : files) {
    inputs.push_back(test::read_file(file));
  }
  return inputs;
}

/// A mutant: two inputs joined, with some bytes changed, inserted or removed.
std::string mutant_of(const std::vector<std::string>& corpus, test::Random& random) {
  const std::string& one = random.one_of(corpus);
  const std::string& other = random.one_of(corpus);
  std::string bytes =
      one.substr(0, random.below(one.size() + 1)) + other.substr(random.below(other.size() + 1));
  for (int changes = random.below(8); changes != 0; --changes) {
    const std::size_t at = random.below(bytes.size() + 1);
    const std::size_t removed = std::min<std::size_t>(random.below(2U), bytes.size() - at);
    bytes.replace(at, removed, random.below(2U), static_cast<char>(random.below(256)));
  }
  return bytes;
}

int run(int argc, const char* const* argv) {
  test::CommandLine line;
  line.value("runs", "N", "number of random inputs to derive from the corpus and run")
      .value("seed", "N", "determines the random inputs")
      .operands("path");
  const test::GivenOptions given = line.parse(argc, argv);
  const std::vector<std::string> corpus = inputs_of(given.texts("path"));
  if (corpus.empty()) {
    throw test::UsageError("no input. Pass a file, or a folder of files");
  }
  std::for_each(corpus.begin(), corpus.end(), [](const std::string& input) { run(input); });
  test::Random random(given.number("seed").value_or(1));
  const std::uint64_t runs = given.number("runs").value_or(0);
  for (std::uint64_t number = 0; number < runs; ++number) {
    run(mutant_of(corpus, random));
  }
  fs::remove(current_input);
  std::printf("%s: %zu inputs of the corpus and %llu random ones found nothing\n", program_name(),
              corpus.size(), static_cast<unsigned long long>(runs));
  return 0;
}

}  // namespace
}  // namespace byre::fuzz

int main(int argc, char** argv) {
  return byre::test::run_main(byre::fuzz::program_name(),
                              [&] { return byre::fuzz::run(argc, argv); });
}
