// SPDX-License-Identifier: BSL-1.0
// Cases of counters and recordings of copies, and of reports of reshapes.
#include <byre/byre.hpp>
#include <byre/observe/expect.hpp>
#include <byre/observe/memory_report.hpp>
#include <byre/observe/recording.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/shadow/report.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/shadow/suppression.hpp>

#include <filesystem>
#include <memory>

#include "cases.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace report_table {

void install_sink(Attempt& attempt) {
  attempt([] { const stats::InstalledSink sink([](const stats::CopyEvent&) {}); });
}

void limit_copies(Attempt& attempt) {
  Buffer one = Buffer::allocate(100);
  attempt([&] {
    try {
      stats::expect_copies_at_most(0, [&] {
        Buffer clone = one.lazy_clone();
        clone.mutable_data();
      });
    } catch (const TooManyCopies&) {
    } catch (const InvalidArgument&) {  // thrown by a build without stats
    }
  });
}

#if BYRE_STATS

// If there is no memory for a record, the record is lost, and the loss is counted.

void clone_and_write() {
  Buffer buffer = Buffer::allocate(100);
  const Buffer clone = buffer.lazy_clone({"a/rather/long/name/of/a/file.cpp", 1});
  buffer.mutable_data();
}

/// A recording of two events, and a path to write it to.
struct Recorded {
  Recorded() { clone_and_write(); }
  TemporaryFolder folder;
  std::filesystem::path path = folder / "a name that exceeds the inline capacity of strings.json";
  trace::Recording recording{std::size_t{1} << 16};  // a larger buffer is slow under a sanitizer
};
std::string described(const std::unique_ptr<Recorded>& recorded) {
  return std::to_string(recorded->recording.lost());
}
constexpr auto make_recorded = [] { return std::make_unique<Recorded>(); };

/// Uses a new name in each attempt.
void tag_memory(Attempt& attempt) {
  const std::string name =
      "a name that exceeds the inline capacity of strings " + std::to_string(attempt.number());
  attempt([&] { const ScopedTag scope(name); });
}

/// A report needs memory for a tag, for shared data and for an overlay.
void report_memory(Attempt& attempt) {
  const ScopedTag scope("a name that exceeds the inline capacity of strings");
  const Buffer data = Buffer::allocate(least_paged_nbytes, paged_allocator());
  Buffer overlay = data;
  overlay.mutable_data()[0] = std::byte{1};
  const Buffer clone = data;
  MemoryReport report;
  attempt(
      [&] { report = memory_report(); },
      [&] { return std::to_string(report.tags.empty()) + std::to_string(report.shared.size()); });
}

constexpr auto report_of_a_tag = [] {
  MemoryReport report;
  report.tags = {{"a name that exceeds the inline capacity of strings", {1, 2, 3, 4, 5}}};
  report.shared = {{"shared", {"a"}, {"a/rather/long/name/of/a/file.cpp:1"}, 1, 2}};
  return report;
};

#endif

// ---- reports

constexpr auto one_violation = [] {
  const std::int64_t sizes[] = {2, 3, 2, 3, 2, 3, 2};
  shadow::Violation violation;
  violation.reshape = {{"a/rather/long/name/of/a/file.cpp", 1}, shadow::Shape(sizes), {}, {}};
  violation.write = {{"another/rather/long/name/of/a/file.cpp", 2}, shadow::Shape(sizes), {}, {}};
  violation.access = {{"one/more/rather/long/name/of/a/file.cpp", 3}, shadow::Shape(sizes), {}, {}};
  violation.count = 3;
  violation.untracked_escapes = 2;
  violation.first_escape = {"the/last/rather/long/name.cpp", 4};
  return violation;
};
constexpr auto two_violations = [] {
  shadow::Summary sum;
  sum.first_escape = one_violation().first_escape;
  sum.triples = {one_violation(), one_violation()};
  return sum;
};

/// Causes one violation.
void rely_on_an_alias() {
  const shadow::ReshapeModeScope tracked(shadow::ReshapeMode::warn);
  const auto before = shadow::set_violation_handler([](const shadow::Violation&) noexcept {});
  const Tensor x = deep_tensor();
  x.reshape({-1}).set_at<float>({0}, 7);
  static_cast<void>(x.at<float>({0, 0, 0, 0, 0, 0}));
  shadow::set_violation_handler(before);
}

void sum_up(Attempt& attempt) {
  rely_on_an_alias();
  shadow::Summary sum;
  attempt([&] { sum = shadow::summary(); },
          [&] { return std::string(sum.triples.empty() ? "none" : "some"); });
}

void print_summary(Attempt& attempt) {
  rely_on_an_alias();
  const TemporaryFolder folder;
  const std::string path = (folder / "summary-%p.json").string();
  attempt([&] { shadow::print_summary(path); },
          [&] { return std::string(std::filesystem::is_empty(folder.path()) ? "none" : "one"); });
}

/// The suppression file of each attempt has two entries. Either both entries take effect, or
/// neither does.
void suppress(Attempt& attempt) {
  const TemporaryFolder folder;
  const std::string name = "suppressed" + std::to_string(attempt.number());
  const std::string other = "the/first/of/two/rather/long/names/" + name + "_in_front.cpp";
  const std::string last = "the/last/of/two/rather/long/names/" + name + ".cpp";
  write_file(folder / "list", "# comment\n" + other + ":12\n\n" + last + "\n");
  const auto path = folder / "list";
  const auto is_suppressed = [&] {
    shadow::reset_summary();
    const shadow::ReshapeModeScope tracked(shadow::ReshapeMode::warn);
    const auto before = shadow::set_violation_handler([](const shadow::Violation&) noexcept {});
    const Tensor x = deep_tensor();
    std::string text;
    for (const std::string& file : {other, last}) {
      x.reshape({-1}, {file.c_str(), 12}).set_at<float>({0}, 7);
      static_cast<void>(x.at<float>({0, 0, 0, 0, 0, 0}));
      text += std::to_string(shadow::summary().suppressed) + " ";
    }
    shadow::set_violation_handler(before);
    return text;
  };
  attempt([&] { shadow::suppress_sites(path); }, is_suppressed);
}

const Case cases[] = {
    {"stats::InstalledSink::InstalledSink", install_sink},
    {"stats::CopyLimit::CopyLimit", limit_copies},
#if BYRE_STATS
    call_case("trace::Recording::Recording",
              [] {
                const trace::Recording recording;
                clone_and_write();
                return std::string();
              }),
    value_case("trace::Recording::stop", make_recorded,
               [](auto& recorded) { recorded->recording.stop(); }),
    value_case("trace::Recording::to_json", make_recorded,
               [](auto& recorded) { (void)recorded->recording.to_json(); }),
    value_case("trace::Recording::summary", make_recorded,
               [](auto& recorded) { (void)recorded->recording.summary(); }),
    value_case("trace::Recording::write", make_recorded,
               [](auto& recorded) { recorded->recording.write(recorded->path); }),
    retaining_memory({"ScopedTag::ScopedTag", tag_memory}),
    {"memory_report", report_memory},
    text_case("to_text", report_of_a_tag, [](auto& report) { return to_text(report); }),
    text_case("to_json", report_of_a_tag, [](auto& report) { return to_json(report); }),
#endif
    text_case("shadow::to_string", one_violation, [](auto& met) { return shadow::to_string(met); }),
    text_case("shadow::to_json", one_violation, [](auto& met) { return shadow::to_json(met); }),
    text_case("shadow::to_string", two_violations,
              [](auto& met) { return shadow::to_string(met); }),
    text_case("shadow::to_json", two_violations, [](auto& met) { return shadow::to_json(met); }),
    text_case("shadow::to_string", one_violation,
              [](auto& met) { return shadow::to_string(met.reshape.shape); }),
    {"shadow::summary", sum_up},
    {"shadow::print_summary", print_summary},
    {"shadow::suppress_sites", suppress},
};

}  // namespace report_table

std::span<const Case> report_cases() {
  return report_table::cases;
}

}  // namespace byre::test
