// SPDX-License-Identifier: BSL-1.0
/// The main program of a target where there is no libFuzzer: runs the inputs of a corpus, and, if
/// asked to, some that are made from them at random.
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "target.hpp"

namespace byre::fuzz {
namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

using InputBytes = std::vector<std::uint8_t>;

struct UsageError : std::runtime_error {
  using runtime_error::runtime_error;
};

struct Options {
  std::vector<std::string> paths;
  std::uint64_t runs = 0;
  std::uint64_t seed = 0;
  std::string keep;
  bool json = false;
};

po::options_description described_options() {
  po::options_description options("Options");
  options.add_options()("help,h", "say this, and exit");
  options.add_options()("runs", po::value<std::uint64_t>()->default_value(0),
                        "inputs to make at random from those given, and to run");
  options.add_options()("seed", po::value<std::uint64_t>(),
                        "gives the random inputs. Default: a random one, which is printed");
  options.add_options()("keep", po::value<std::string>(),
                        "a file for the random input under way, to have it after a crash");
  options.add_options()("json", "write the figures as JSON");
  return options;
}

Options parse(int argc, const char* const* argv) {
  try {
    po::options_description all = described_options();
    all.add_options()("path", po::value<std::vector<std::string>>());
    po::positional_options_description positions;
    positions.add("path", -1);
    po::variables_map given;
    po::store(po::command_line_parser(argc, argv).options(all).positional(positions).run(), given);
    if (given.count("help") != 0) {
      std::cout << "Usage: " << argv[0] << " [options] FILE|FOLDER...\n\n"
                << "Runs inputs of the fuzz target " << target_name
                << ". Ends by SIGABRT if one of them finds an error, and says how to\nrepeat it; 2 "
                   "for wrong usage.\n\n"
                << described_options();
      std::exit(0);
    }
    Options options;
    if (given.count("path") != 0) {
      options.paths = given["path"].as<std::vector<std::string>>();
    }
    options.runs = given["runs"].as<std::uint64_t>();
    options.seed = given.count("seed") != 0 ? given["seed"].as<std::uint64_t>()
                                            : std::uint64_t{std::random_device{}()};
    options.keep = given.count("keep") != 0 ? given["keep"].as<std::string>() : "";
    options.json = given.count("json") != 0;
    if (options.paths.empty()) {
      throw UsageError("no file or folder is given; --help says what this does");
    }
    return options;
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
}

InputBytes bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw UsageError("cannot read " + path.string());
  }
  return {std::istreambuf_iterator<char>(file), {}};
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

/// Two inputs joined, and some bytes of that changed, put in or taken out.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  InputBytes make_of(const std::vector<InputBytes>& corpus) {
    InputBytes bytes = corpus[below(corpus.size())];
    const InputBytes& other = corpus[below(corpus.size())];
    bytes.resize(below(bytes.size() + 1));
    bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size() + 1)),
                 other.end());
    for (std::size_t changes = below(8); changes != 0; --changes) {
      change(bytes);
    }
    return bytes;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void change(InputBytes& bytes) {
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1));
    const auto byte = static_cast<std::uint8_t>(random_());
    if (at == bytes.end() || random_() % 3 == 0) {
      bytes.insert(at, byte);
    } else if (random_() % 2 == 0) {
      bytes.erase(at);
    } else {
      *at = byte;
    }
  }

  std::mt19937_64 random_;
};

/// What repeats the input under way, for who dies of it.
char how_to_repeat[4096] = "";

constexpr int fatal_signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

struct sigaction handled_before[std::size(fatal_signals)];

/// Then on to a sanitizer's handler, or to none: a wrong address is used again.
void say_how_to_repeat(int signal) {
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, how_to_repeat, std::strlen(how_to_repeat));
  const auto at = std::find(std::begin(fatal_signals), std::end(fatal_signals), signal);
  sigaction(signal, &handled_before[at - std::begin(fatal_signals)], nullptr);
  if (signal == SIGABRT) {
    std::raise(signal);
  }
}

void have_repeated_what_is_fatal() {
  struct sigaction action {};
  action.sa_handler = &say_how_to_repeat;
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
      std::ofstream(options.keep, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    }
    run_random(number, options, bytes);
  }
  if (options.json) {
    std::cout << nlohmann::json{{"target", target_name},
                                {"corpus_inputs", corpus.size()},
                                {"random_inputs", options.runs},
                                {"seed", options.seed}}
                     .dump(2)
              << '\n';
  } else {
    std::cout << program_name() << ": " << corpus.size() << " inputs of the corpus and "
              << options.runs << " random ones found nothing\n";
  }
  return 0;
}

}  // namespace
}  // namespace byre::fuzz

int main(int argc, char** argv) {
  using namespace byre::fuzz;
  have_repeated_what_is_fatal();
  try {
    return replay(parse(argc, argv));
  } catch (const std::exception& error) {
    // A folder that cannot be read is no finding.
    std::cerr << program_name() << ": " << error.what() << '\n';
    return 2;
  }
}
