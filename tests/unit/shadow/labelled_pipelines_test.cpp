// SPDX-License-Identifier: BSL-1.0
/// Reports of warn mode, held against labelled pipelines. Labels are not taken on trust: each of their three steps is
/// changed alone, and what the pipeline sees has to tell. No report is looked at for that.
#include "labelled_pipelines.hpp"
#include "tracked.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace byre::test {
namespace {

using Faults = std::vector<std::string>;

/// The steps that see other values in one run than in the other, or see in one of them alone.
StepNumbers differing(const Steps& one_run, const Steps& other_run) {
  StepNumbers steps;
  for (const auto& [one, other] :
       {std::pair(&one_run.seen(), &other_run.seen()), {&other_run.seen(), &one_run.seen()}}) {
    for (std::size_t at = 0; at < one->size(); ++at) {
      if (at >= other->size() || (*one)[at] != (*other)[at]) {
        steps.insert((*one)[at].step);
      }
    }
  }
  return steps;
}

Steps run_in(ReshapeMode mode, const Pipeline& pipeline, const Steps::Changes& changes = {}) {
  const ReshapeModeScope scope(mode);
  Steps steps(pipeline.name, changes);
  pipeline.run(steps);
  return steps;
}

/// The faults of the labels, a sentence each.
Faults faults_of_labels(const Pipeline& pipeline) {
  const Steps aliased = run_in(ReshapeMode::alias, pipeline);
  const Steps copied = run_in(ReshapeMode::copy, pipeline);
  const StepNumbers by_access = differing(aliased, copied);
  const auto by_reshape = [&](std::uint32_t step) {
    return differing(aliased, run_in(ReshapeMode::alias, pipeline, {.reshape = step}));
  };
  // Among aliases or among copies, and not in both: it has to do with this write, and depends on reshape.
  const auto by_write = [&](std::uint32_t step) {
    const auto alike = differing(aliased, run_in(ReshapeMode::alias, pipeline, {.write = step}));
    const auto apart = differing(copied, run_in(ReshapeMode::copy, pipeline, {.write = step}));
    StepNumbers steps;
    std::ranges::set_symmetric_difference(alike, apart, std::inserter(steps, steps.end()));
    return steps;
  };
  Faults faults;
  StepNumbers unexplained = by_access;
  StepNumbers unlabelled = aliased.reshapes();
  for (const Label& label : pipeline.labels) {
    StepNumbers shown = label.seen;
    if (std::ranges::any_of(aliased.seen(),
                            [&](const auto& seen) { return seen.step == label.access; })) {
      shown.insert(label.access);
    }
    const auto misses = [&](const StepNumbers& steps) {
      return shown.empty() || !std::ranges::includes(steps, shown);
    };
    if (misses(by_access)) {
      faults.push_back("the access sees the same of aliases and of copies");
    } else if (misses(by_reshape(label.reshape))) {
      faults.push_back("the access sees the same if only that reshape copies");
    } else if (misses(by_write(label.write))) {
      faults.push_back("the access has nothing to do with that write");
    }
    unlabelled.erase(label.reshape);
    std::erase_if(unexplained, [&](std::uint32_t step) { return shown.contains(step); });
  }
  std::erase_if(unlabelled, [&](std::uint32_t step) { return by_reshape(step).empty(); });
  if (!unexplained.empty() || !unlabelled.empty()) {
    faults.push_back("a label is missing");
  }
  return faults;
}

using Triple = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>;

Triple triple_of(const Label& label) {
  return {label.reshape, label.write, label.access, label.access_writes};
}
Triple triple_of(const Violation& report) {
  return {report.reshape.site.line, report.write.site.line, report.access.site.line,
          report.access_writes};
}

class LabelledPipelines : public testing::TestWithParam<Pipeline> {
 protected:
  const Pipeline& pipeline() const { return GetParam(); }
  std::vector<Violation> reported_in(ReshapeMode mode, const Steps::Changes& changes = {}) {
    shadow::reset_summary();
    run_in(mode, pipeline(), changes);
    return shadow::summary().triples;
  }

  CaughtReports reports;
};

TEST_P(LabelledPipelines, have_true_labels_of_all_that_relies_on_aliases) {
  EXPECT_EQ(faults_of_labels(pipeline()), Faults());
}

TEST_P(LabelledPipelines, have_no_label_whose_steps_could_be_others) {
  if (pipeline().labels.size() != 1) {
    return;  // where several are true, their steps may be exchanged
  }
  EXPECT_NE(faults_of_labels({pipeline().name, pipeline().meant, pipeline().run, {}}), Faults());
  for (std::uint32_t Label::*const field : {&Label::reshape, &Label::write, &Label::access}) {
    for (std::uint32_t step = 1; step <= 5; ++step) {
      Pipeline changed = pipeline();
      Label& label = changed.labels.front();
      if (label.*field != step) {
        label.*field = step;
        EXPECT_NE(faults_of_labels(changed), Faults()) << step;
      }
    }
  }
}

TEST_P(LabelledPipelines, are_reported_as_labelled_and_advised_as_meant) {
  std::map<Triple, Advice> labelled;
  std::map<Triple, Advice> reported;
  for (const Label& label : pipeline().labels) {
    labelled.emplace(triple_of(label), label.advice);
    const bool keeps_alias = label.advice == Advice::view && !label.is_mistake;
    EXPECT_TRUE(label.advice == Advice::view_or_clone ||
                keeps_alias == (pipeline().meant == ReshapeMode::alias));
  }
  for (const Violation& report : reported_in(ReshapeMode::warn)) {
    EXPECT_TRUE(reported.emplace(triple_of(report), report.advice).second);
    EXPECT_STREQ(report.access.site.file, pipeline().name);
  }
  EXPECT_EQ(reported, labelled);
}

TEST_P(LabelledPipelines, see_in_warn_mode_what_they_see_of_aliases) {
  EXPECT_EQ(run_in(ReshapeMode::warn, pipeline()).seen(),
            run_in(ReshapeMode::alias, pipeline()).seen());
}

TEST_P(LabelledPipelines, throw_in_error_mode_what_warn_mode_reports_first) {
  run_in(ReshapeMode::warn, pipeline());
  if (reports.count() == 0) {
    EXPECT_NO_THROW(run_in(ReshapeMode::error, pipeline()));
    return;
  }
  const Triple first = triple_of(reports.all().front());
  try {
    run_in(ReshapeMode::error, pipeline());
    FAIL() << "nothing was thrown";
  } catch (const ReshapeViolation& thrown) {
    EXPECT_EQ(triple_of(thrown.violation()), first);
  }
}

TEST_P(LabelledPipelines, are_silent_once_rewritten_and_mean_the_same_in_all_modes) {
  if (pipeline().labels.empty()) {
    return;
  }
  const Steps meant = run_in(pipeline().meant, pipeline());
  for (const ReshapeMode mode :
       {ReshapeMode::alias, ReshapeMode::warn, ReshapeMode::error, ReshapeMode::copy}) {
    const Steps::Changes rewritten{.rewritten = pipeline().meant};
    EXPECT_TRUE(reported_in(mode, rewritten).empty()) << name_of(mode);
    EXPECT_EQ(run_in(mode, pipeline(), rewritten).seen(), meant.seen()) << name_of(mode);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LabelledPipelines, testing::ValuesIn(labelled_pipelines()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace byre::test
