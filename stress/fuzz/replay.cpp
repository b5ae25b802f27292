// SPDX-License-Identifier: BSL-1.0
/// The main program of a target where there is no libFuzzer: runs the inputs of a corpus, and, if
/// asked to, some that are made from them at random.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/command_line.hpp"
#include "support/json.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"
#include "target.hpp"

namespace byre::fuzz {
namespace {

namespace fs = std::filesystem;

using InputBytes = std::vector<std::uint8_t>;

struct Options {
  std::vector<std::string> paths;
  std::uint64_t runs = 0;
  std::uint64_t seed = 0;
  std::string keep;
  bool json = false;
};

test::CommandLine command_line() {
  test::CommandLine line;
  line.flag("help,h", "print this, and exit")
      .value("runs", "N", "random inputs to make from those given, and to run")
      .value("seed", "N", "determines the random inputs. Default: a random one, which is printed")
      .value("keep", "FILE", "for the random input under way, to have it after a crash")
      .flag("json", "write the figures as JSON")
      .operands("path");
  return line;
}

Options options_of(const test::GivenOptions& given) {
  Options options{.paths = given.texts("path"),
                  .runs = given.number("runs").value_or(0),
                  .seed = given.number("seed").value_or(std::random_device{}()),
                  .keep = given.text("keep").value_or(""),
                  .json = given.has("json")};
  if (options.paths.empty()) {
    throw test::UsageError("no file or folder is given");
  }
  return options;
}

InputBytes bytes_of(const fs::path& path) {
  const std::string bytes = test::read_file(path);
  return {bytes.begin(), bytes.end()};
}

/// In the order of their names.
std::vector<fs::path> files_of(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    if (fs::is_directory(path)) {
      for (const auto& entry : fs::directory_iterator(path)) {
        files.push_back(entry.path());
      }
    } else {
      files.emplace_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Two inputs joined, with some bytes changed, inserted or removed.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  InputBytes make_of(const std::vector<InputBytes>& corpus) {
    InputBytes bytes = random_.one_of(corpus);
    const InputBytes& other = random_.one_of(corpus);
    bytes.resize(random_.below(bytes.size() + 1));
    bytes.insert(bytes.end(), other.begin() + position_in(other), other.end());
    for (int changes = random_.below(8); changes != 0; --changes) {
      change(bytes);
    }
    return bytes;
  }

 private:
  std::ptrdiff_t position_in(const InputBytes& bytes) {
    return static_cast<std::ptrdiff_t>(random_.below(bytes.size() + 1));
  }

  void change(InputBytes& bytes) {
    const auto at = bytes.begin() + position_in(bytes);
    const auto byte = random_.number<std::uint8_t>(0, 255);
    if (at == bytes.end() || random_.below(3) == 0) {
      bytes.insert(at, byte);
    } else if (random_.flag()) {
      bytes.erase(at);
    } else {
      *at = byte;
    }
  }

  test::Random random_;
};

/// The command that repeats the input under way, for a crash.
char how_to_repeat[4096] = "";

constexpr int fatal_signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

struct sigaction handled_before[std::size(fatal_signals)];

/// Then a sanitizer's handler runs, or none: a wrong address is accessed again.
void print_how_to_repeat(int signal) {
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, how_to_repeat, std::strlen(how_to_repeat));
  const auto at = std::find(std::begin(fatal_signals), std::end(fatal_signals), signal);
  sigaction(signal, &handled_before[at - std::begin(fatal_signals)], nullptr);
  if (signal == SIGABRT) {
    std::raise(signal);
  }
}

void handle_fatal_signals() {
  struct sigaction action {};
  action.sa_handler = &print_how_to_repeat;
  for (std::size_t at = 0; at < std::size(fatal_signals); ++at) {
    sigaction(fatal_signals[at], &action, &handled_before[at]);
  }
}

void run_file(const fs::path& file, const InputBytes& bytes) {
  std::snprintf(how_to_repeat, sizeof how_to_repeat, "again: %s %s\n", program_name(),
                file.c_str());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

void run_random(std::uint64_t number, const Options& options, const InputBytes& bytes) {
  const std::string paths = std::accumulate(
      options.paths.begin(), options.paths.end(), std::string(),
      [](const std::string& all, const std::string& path) { return all + ' ' + path; });
  std::snprintf(how_to_repeat, sizeof how_to_repeat,
                "random input %llu, which this makes again, and leaves in INPUT:\n"
                "again: %s --seed %llu --runs %llu --keep INPUT%s\n",
                static_cast<unsigned long long>(number), program_name(),
                static_cast<unsigned long long>(options.seed),
                static_cast<unsigned long long>(number), paths.c_str());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

int replay(const Options& options) {
  std::vector<InputBytes> corpus;
  for (const fs::path& file : files_of(options.paths)) {
    trace("%s:", file.c_str());
    corpus.push_back(bytes_of(file));
    run_file(file, corpus.back());
  }
  std::fprintf(stderr, "%s: --seed %llu\n", program_name(),
               static_cast<unsigned long long>(options.seed));
  Mutator mutator(options.seed);
  for (std::uint64_t number = 1; number <= (corpus.empty() ? 0 : options.runs); ++number) {
    const InputBytes bytes = mutator.make_of(corpus);
    if (!options.keep.empty()) {
      test::write_file(options.keep, bytes.data(), bytes.size());
    }
    run_random(number, options, bytes);
  }
  if (options.json) {
    test::JsonOutput(fs::path())
        .write({{"target", target_name},
                {"corpus_inputs", corpus.size()},
                {"random_inputs", options.runs},
                {"seed", options.seed}});
  } else {
    std::printf("%s: %zu inputs of the corpus and %llu random ones found nothing\n", program_name(),
                corpus.size(), static_cast<unsigned long long>(options.runs));
  }
  return 0;
}

int run(int argc, const char* const* argv) {
  const test::GivenOptions given = command_line().parse(argc, argv);
  if (given.has("help")) {
    std::printf(
        "Usage: %s [options] FILE|FOLDER...\n\n"
        "Runs inputs of the fuzz target %s. Ends by SIGABRT if one of them finds an error, and "
        "prints\n"
        "the command that repeats it; 2 for wrong usage.\n\n%s",
        program_name(), target_name, command_line().help().c_str());
    return 0;
  }
  return replay(options_of(given));
}

}  // namespace
}  // namespace byre::fuzz

int main(int argc, char** argv) {
  using namespace byre::fuzz;
  handle_fatal_signals();
  return byre::test::run_main(program_name(), [&] { return run(argc, argv); });
}
