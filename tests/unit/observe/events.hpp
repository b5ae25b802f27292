// SPDX-License-Identifier: BSL-1.0
/// Parses the JSON text of a recording, as a trace viewer does.
#pragma once

#include <byre/error/call_site.hpp>
#include <byre/observe/recording.hpp>
#include <byre/storage/buffer.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {

using Json = nlohmann::json;

constexpr CallSite at_line(std::uint32_t line) {
  return {"model.cpp", line};
}

inline Buffer clone(const Buffer& buffer, std::uint32_t line) {
  return buffer.lazy_clone(at_line(line));
}
inline void write(Buffer& buffer, std::uint32_t line) {
  buffer.mutable_data(Wait::allowed, at_line(line));
}

class Recordings : public WithStats {};

class Events {
 public:
  explicit Events(const std::string& text) : whole_(Json::parse(text)) {}
  explicit Events(const trace::Recording& recording) : Events(recording.to_json()) {}

  const Json& whole() const { return whole_; }
  const Json& all() const { return whole_.at("traceEvents"); }

  /// The events with this phase and name.
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

  /// The values of a counter, in the order of the events.
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

/// The value without JSON punctuation, and call sites without their file name.
inline std::string plain(const Json& value) {
  std::string text = value.dump();
  for (const std::string_view part : {"\"", "[", "]", "model.cpp:"}) {
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part)) {
      text.erase(at, part.size());
    }
  }
  return text;
}

/// Returns a line for each slice, and for each begin and end of a span, in the order of their time
/// stamps. If `name` is given, returns only lines of events whose names begin with `name`.
///
///     1: clone bytes=64 cloned_at=10 data=A
///     2: copy (shared) bytes=64 cloned_at=10 copy=B data=A written_at=20 <- 1: clone at 10
///
/// The first number is the number of the thread. Data are named by letters in the order of their
/// appearance. "<-" names the slice at which an arrow to this slice begins. A slice within a longer
/// slice of its thread is indented.
inline std::string shown(const Events& all, std::string_view name = "") {
  std::vector<Json> events;
  std::set<Json> arrows;
  Json previous;
  for (const Json& each : all.all()) {
    if (std::string_view("Xbe").find(each["ph"].get<std::string>()) != std::string_view::npos) {
      events.push_back(each);
    } else if (each["ph"] == "f" && each["bp"] == "e" && each["id"] == previous["id"] &&
               each["tid"] == events.back()["tid"] && each["ts"] == events.back()["ts"]) {
      events.back()["from"] = previous;
      if (!arrows.insert(each["id"]).second) {
        return "two arrows have the number " + each["id"].dump();
      }
    }
    previous = each;
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Json& left, const Json& right) { return left["ts"] < right["ts"]; });
  std::map<Json, std::string> letters;
  const auto letter = [&](const Json& data) {
    return letters.try_emplace(data, 1, static_cast<char>('A' + letters.size())).first->second;
  };
  std::string text;
  for (auto event = events.begin(); event != events.end(); ++event) {
    const bool is_slice = (*event)["ph"] == "X";
    const bool is_nested = is_slice && std::any_of(events.begin(), event, [&](const Json& other) {
                             return other["ph"] == "X" && other["tid"] == (*event)["tid"] &&
                                    other["dur"] > 0.001 &&
                                    (*event)["ts"].get<double>() <
                                        other["ts"].get<double>() + other["dur"].get<double>();
                           });
    std::string line =
        (is_nested ? "  " : "") + plain((*event)["tid"]) + ": " + plain((*event)["name"]);
    if (!is_slice) {
      line += ((*event)["ph"] == "b" ? " begins " : " ends ") + letter((*event)["id"]);
    }
    for (const auto& [member, value] : (*event)["args"].items()) {
      const bool is_data = member == "data" || member == "copy" || member == "shows_data";
      line += " " + member + "=" + (is_data ? letter(value) : plain(value));
    }
    if (event->contains("from")) {
      const Json& begin = (*event)["from"];
      const auto from = std::find_if(events.rbegin(), events.rend(), [&](const Json& each) {
        return each["ph"] == "X" && each["tid"] == begin["tid"] && each["ts"] == begin["ts"];
      });
      if (from == events.rend()) {
        return "no slice begins at the begin of an arrow: " + begin.dump();
      }
      const Json& site = from->at("args")[from->at("name") == "clone" ? "cloned_at" : "written_at"];
      line +=
          " <- " + plain(from->at("tid")) + ": " + plain(from->at("name")) + " at " + plain(site);
    }
    text += plain((*event)["name"]).starts_with(name) ? line + "\n" : "";
  }
  return text;
}
inline std::string shown(const trace::Recording& recording, std::string_view name = "") {
  return shown(Events(recording), name);
}

/// Runs `copy`, which must copy with `allocator`, on one thread, and `wait`, which must wait for
/// that copy, on another thread. Runs `meanwhile` after the copy began and before the wait begins.
template <class Copy, class Meanwhile, class WaitForIt>
void wait_for_copy(FailingAllocator& allocator, Copy copy, Meanwhile meanwhile, WaitForIt wait) {
  Halt halt;
  allocator.halt_copy(halt);
  std::thread copier(copy);
  halt.await_entry();
  meanwhile();
  const Counted counted;
  std::thread waiter(wait);
  await([&] { return counted.since().waits != 0; });
  halt.let_go();
  copier.join();
  waiter.join();
}

}  // namespace byre::test
