// SPDX-License-Identifier: BSL-1.0
#include "journal.hpp"

#include <iterator>
#include <stdexcept>

#include "support/json.hpp"

namespace byre::verification {
namespace {

constexpr std::string_view begin = "{\"program\"";

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
  for (std::string line; std::getline(written, line);) {
    const test::Json search = test::Json::parse(line, nullptr, false);
    if (search.is_object() && search.value("program", "") == program_) {
      searches_[search["search"]] = search["said"];
    } else if (!line.empty() && !line.starts_with(begin)) {
      refuse();  // a search that was broken off while it was written begins as others do
    }
  }
  written.close();
  file_.open(file, std::ios::app);
  file_ << '\n';  // after what was broken off
  check();
}

std::vector<std::string> Journal::find(const Job& job) const {
  const auto found = searches_.find(key_of(job));
  return found == searches_.end() ? std::vector<std::string>() : found->second;
}

void Journal::add(const Job& job, const std::vector<std::string>& lines) {
  const test::Json search{{"program", program_}, {"search", key_of(job)}, {"said", lines}};
  file_ << search.dump() << std::endl;
  check();
}

void Journal::check() const {
  if (!file_) {
    throw std::runtime_error("cannot write " + name_.string());
  }
}

}  // namespace byre::verification
