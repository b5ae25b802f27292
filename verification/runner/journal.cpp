// SPDX-License-Identifier: BSL-1.0
#include "journal.hpp"

#include <iterator>
#include <stdexcept>

namespace byre::verification {
namespace {

constexpr std::string_view begin = "search ";
constexpr std::string_view end = "end";

/// The code under test is in the headers, and so in the program.
std::string this_program() {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(self), {});
  return std::to_string(std::hash<std::string>{}(content));
}

std::string key_of(const Job& job) {
  return std::string(job.scenario->name) + ", " + job.mutation.name() + ", " +
         job.search.bound.name();
}

}  // namespace

Journal::Journal(const std::filesystem::path& file) : name_(file), program_(this_program()) {
  const auto refuse = [&] {
    throw std::runtime_error(file.string() +
                             " is no journal of searches: name another file, or remove it");
  };
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) {
    refuse();  // a device may have no end
  }
  std::ifstream written(file);
  // A search without an end was broken off while it was written.
  std::vector<std::string> lines;
  for (std::string line; std::getline(written, line);) {
    if (line.empty()) {
      continue;
    }
    if (line.starts_with(begin)) {
      lines.clear();
    } else if (lines.empty()) {
      refuse();
    }
    if (line == end && lines.front().starts_with(std::string(begin) + program_ + ' ')) {
      searches_[lines.front().substr(begin.size() + program_.size() + 1)] = {lines.begin() + 1,
                                                                             lines.end()};
    }
    lines.push_back(line);
  }
  written.close();
  file_.open(file, std::ios::app);
  if (!file_) {
    throw std::runtime_error("cannot write " + file.string());
  }
  file_ << '\n';  // after what was broken off
}

std::vector<std::string> Journal::find(const Job& job) const {
  const auto found = searches_.find(key_of(job));
  return found == searches_.end() ? std::vector<std::string>() : found->second;
}

void Journal::add(const Job& job, const std::vector<std::string>& lines) {
  file_ << begin << program_ << ' ' << key_of(job) << '\n';
  for (const std::string& line : lines) {
    file_ << line << '\n';
  }
  file_ << end << std::endl;
  if (!file_) {
    throw std::runtime_error("cannot write " + name_.string());
  }
}

}  // namespace byre::verification
