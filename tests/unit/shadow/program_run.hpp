// SPDX-License-Identifier: BSL-1.0
/// ProgramRun executes the steps of a small program, and compares the reports with those that the
/// steps expect.
///
/// Steps are separated by semicolons. A number is the line of a call site; 0 is an unknown call
/// site.
///   y = reshape x 10    reshapes in warn mode; `reshape!` in error mode; `new`, `device` and
///                       `view x` make tensors, too
///   write x 11          stores 11 in all six elements of x; `copy` copies from another tensor;
///                       `part` and `element` write the first element; `read` reads all; `escape`
///                       and `loop` request a pointer to write; `fails` is a copy that fails
///   during write d 11   runs `write d 11` in the middle of the next write to the device; this does
///                       not depend on timing
///   ... > 10 11 view    the step is reported: the lines of reshape and write, the advice, and, if
///                       pointers to write were handed out before, their number and the line of
///                       the first
///   ... ! 10 11 view    the step throws this violation
///   ... again           the step is only counted: its call sites were reported before
///   is d 12 11          expects that the first element of d is 12 and the last is 11
///   all view            expects that every advice in the summary is `view`; `advice 10 11 12 view`
///                       expects this advice for one triple of lines
///   escapes 2 31        expects two escapes in the summary, the first of them at line 31
///   mode warn           sets the mode of the following steps
#pragma once

#include <byre/tensor/devices.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "support/failing_allocator.hpp"
#include "tracked.hpp"

namespace byre::test {

/// Calls a function once, in the middle of the next copy to the device.
class InterruptedDevice final : public DeviceSupport {
 public:
  static InterruptedDevice& registered() {
    static InterruptedDevice support;
    static const bool is_registered = (register_device(support.device(), support), true);
    static_cast<void>(is_registered);
    return support;
  }

  Allocator& allocator() noexcept override { return allocator_; }
  void copy_to_host(void* destination, const void* source, std::size_t nbytes) override {
    allocator_.Allocator::copy(destination, source, nbytes);
  }
  void copy_from_host(void* destination, const void* source, std::size_t nbytes) override {
    allocator_.copy(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "interrupted"; }
  Device device() const noexcept { return allocator_.device(); }

  void interrupt(std::function<void()> meanwhile) {
    allocator_.during_copy([this, meanwhile = std::move(meanwhile)] {
      allocator_.during_copy(nullptr);
      meanwhile();
    });
  }
  void fail_to_copy() { allocator_.fail_copy(0); }

 private:
  FailingAllocator allocator_{Device(1, 7)};
};

inline Tensor sixes(std::int64_t value, Device device = InterruptedDevice::registered().device()) {
  return add(Tensor::zeros({6}, DType::f32), value).to(device);
}

inline void fail_to_write(Tensor& tensor, CallSite at) {
  for (const Device device : {Device::cpu(), tensor.device()}) {
    const Tensor source = sixes(3, device).view(tensor.sizes());
    InterruptedDevice::registered().fail_to_copy();
    EXPECT_THROW(copy_(tensor, source, at), FailingAllocator::CopyFailed);
  }
}

/// How the reshapes of a program are executed: as found, or rewritten as advised.
enum class Written : std::uint8_t { as_found, as_view, as_clone };

/// Runs the steps of a program, which begins with a tensor x of six zeros.
class ProgramRun {
 public:
  explicit ProgramRun(Written written) : written_(written) {}

  void take(const std::string& step) {
    SCOPED_TRACE(step);
    std::istringstream words(step);
    std::string verb;
    std::string name;
    words >> verb >> name;
    if (verb == "during") {
      InterruptedDevice::registered().interrupt(
          [this, rest = step.substr(step.find("during") + 6)] { take(rest); });
    } else if (name == "=") {
      tensors_.insert_or_assign(verb, made(words));
    } else if (verb == "mode") {
      mode_.reset();
      mode_.emplace(*shadow::mode_named(name));
    } else if (const auto found = accesses.find(verb); found != accesses.end()) {
      access([&, line = line_in(words)] { found->second(tensors_.at(name), line); }, verb, words);
    } else if (written_ != Written::as_found) {
      // Not checked: a rewritten program has different values and reports.
    } else if (verb == "is") {
      expect_elements(name, words);
    } else {
      expect_of_summary(verb, name, words);
    }
  }

 private:
  using Access = void (*)(Tensor&, CallSite);
  static inline const std::map<std::string, Access> accesses{
      {"read", [](Tensor& tensor, CallSite at) { read(tensor, at); }},
      {"write", [](Tensor& tensor, CallSite at) { fill_(tensor, at.line, at); }},
      {"part",
       [](Tensor& tensor, CallSite at) { fill_(tensor.view({-1}).slice(0, 0, 1), at.line, at); }},
      {"element",
       [](Tensor& tensor, CallSite at) {
         tensor.view({-1}).set_at<float>({0}, static_cast<float>(at.line), at);
       }},
      {"copy",
       [](Tensor& tensor, CallSite at) { copy_(tensor, sixes(at.line).view(tensor.sizes()), at); }},
      {"fails", fail_to_write},
      {"escape", escape},
      {"loop", [](Tensor& tensor, CallSite at) {
         static_cast<void>(tensor.mutable_data_in_parallel<float>(Wait::allowed, at));
       }}};

  static CallSite line_in(std::istringstream& words) {
    std::uint32_t line = 0;
    words >> line;
    return line == 0 ? CallSite{} : site(line);
  }

  Tensor made(std::istringstream& words) {
    std::string how;
    std::string of;
    words >> how >> of;
    if (how == "new" || how == "device") {
      return Tensor::zeros({6}, DType::f32,
                           how == "new" ? Device::cpu() : InterruptedDevice::registered().device());
    }
    const Tensor& tensor = tensors_.at(of);
    if (how == "view") {
      return tensor.view({-1}).slice(0, 1).view(DType::i32).view(DType::f32);
    }
    const Dims sizes = tensor.ndim() == 1 ? Dims{2, 3} : Dims{6};
    const CallSite at = line_in(words);
    switch (written_) {
      case Written::as_found:
        return reshaped(tensor, sizes, how == "reshape!" ? ReshapeMode::error : ReshapeMode::warn,
                        at);
      case Written::as_view:
        return tensor.view(sizes);
      case Written::as_clone:
        break;
    }
    return reshaped(tensor, sizes, ReshapeMode::warn, at).clone();
  }

  void access(const std::function<void()>& act, const std::string& verb,
              std::istringstream& words) {
    const std::uint64_t before = shadow::summary().violations;
    const std::size_t reported = reports_.count();
    std::optional<Violation> violation;
    std::string how;
    try {
      act();
      if (reports_.count() != reported) {
        how = ">";
        violation = reports_.last();
      } else if (shadow::summary().violations != before) {
        how = "again";
      }
    } catch (const ReshapeViolation& error) {
      how = "!";
      violation = error.violation();
      EXPECT_EQ(error.what(), to_string(*violation));
    }
    std::string expected;
    if (words >> expected && written_ != Written::as_found) {
      expected.clear();
    }
    EXPECT_EQ(how, expected);
    EXPECT_EQ(shadow::summary().violations, before + (expected.empty() ? 0 : 1));
    if (violation) {
      expect_report(*violation, verb, words);
    }
  }

  static void expect_report(const Violation& violation, const std::string& verb,
                            std::istringstream& words) {
    std::string advice;
    std::uint64_t escapes = 0;
    EXPECT_EQ(violation.reshape.site.line, line_in(words).line);
    EXPECT_EQ(violation.write.site.line, line_in(words).line);
    words >> advice >> escapes;
    EXPECT_EQ(to_string(violation.advice), advice);
    EXPECT_EQ(violation.access_writes, verb != "read");
    EXPECT_EQ(violation.untracked_escapes, escapes);
    EXPECT_EQ(violation.first_escape.line, line_in(words).line);
  }

  void expect_elements(const std::string& name, std::istringstream& words) const {
    float first = 0;
    float last = 0;
    words >> first >> last;
    const std::vector<float> values = values_of(tensors_.at(name));
    EXPECT_EQ(values.front(), first);
    EXPECT_EQ(values.back(), last);
  }

  static void expect_of_summary(const std::string& verb, const std::string& what,
                                std::istringstream& words) {
    const shadow::Summary summary = shadow::summary();
    if (verb == "escapes") {
      EXPECT_EQ(std::to_string(summary.untracked_escapes), what);
      EXPECT_EQ(summary.first_escape.line, line_in(words).line);
      return;
    }
    if (verb == "advice") {
      const std::array lines{static_cast<std::uint32_t>(std::stoul(what)), line_in(words).line,
                             line_in(words).line};
      std::string advice;
      words >> advice;
      const auto found = std::ranges::find_if(summary.triples, [&](const Violation& each) {
        return std::array{each.reshape.site.line, each.write.site.line, each.access.site.line} ==
               lines;
      });
      ASSERT_NE(found, summary.triples.end());
      EXPECT_EQ(to_string(found->advice), advice);
      return;
    }
    ASSERT_EQ(verb, "all");
    EXPECT_FALSE(summary.triples.empty());
    for (const Violation& each : summary.triples) {
      EXPECT_EQ(to_string(each.advice), what)
          << each.reshape.site.line << ", " << each.access.site.line;
    }
  }

  const Written written_;
  const CaughtReports reports_;
  std::optional<ReshapeModeScope> mode_;
  std::map<std::string, Tensor> tensors_{{"x", Tensor::zeros({6}, DType::f32)}};
};

}  // namespace byre::test
