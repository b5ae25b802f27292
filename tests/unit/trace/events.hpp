// SPDX-License-Identifier: BSL-1.0
/// A recording, read back as its viewer reads it: the events of the JSON text.
#pragma once

#include <byre/error/call_site.hpp>
#include <byre/observe/recording.hpp>

#include <boost/thread/thread.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {

using Json = nlohmann::json;

constexpr CallSite site(std::uint32_t line) {
  return {"model.cpp", line};
}

class Recordings : public WithStats {};

class Events {
 public:
  explicit Events(const std::string& text) : whole_(Json::parse(text)) {}
  explicit Events(const trace::Recording& recording) : Events(recording.to_json()) {}

  const Json& whole() const { return whole_; }
  const Json& all() const { return whole_.at("traceEvents"); }

  /// Those of a phase and a name.
  std::vector<Json> of(const std::string& phase, const std::string& name) const {
    std::vector<Json> found;
    for (const Json& event : all()) {
      if (event.at("ph") == phase && event.at("name") == name) {
        found.push_back(event);
      }
    }
    return found;
  }
  std::vector<Json> slices(const std::string& name) const { return of("X", name); }
  /// The arguments of one of them.
  Json arguments(const std::string& name, std::size_t index = 0) const {
    return slices(name).at(index).at("args");
  }

  /// The values that a counter had, in order.
  std::vector<std::int64_t> values(const std::string& counter) const {
    std::vector<std::int64_t> values;
    for (const Json& event : of("C", counter)) {
      values.push_back(event.at("args").at("bytes"));
    }
    return values;
  }

 private:
  Json whole_;
};

/// Runs `copy`, which copies by `allocator`, until `wait` has waited for that copy; `meanwhile` before `wait`.
template <class Copy, class Meanwhile, class WaitForIt>
void wait_for_copy(FailingAllocator& allocator, Copy copy, Meanwhile meanwhile, WaitForIt wait) {
  Halt halt;
  allocator.halt_copy(halt);
  boost::thread copier(copy);
  halt.await_entry();
  meanwhile();
  const Counted counted;
  boost::thread waiter(wait);
  await([&] { return counted.since().waits != 0; });
  halt.let_go();
  copier.join();
  waiter.join();
}

}  // namespace byre::test
