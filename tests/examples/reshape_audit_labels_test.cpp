// SPDX-License-Identifier: BSL-1.0
// What a label is worth to the audit: one of which any line is wrong, or that is missing, is seen in
// precision and recall. The pipelines here have their switches written out.
#include "audit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace examples::reshape_audit {
namespace {

const char* const file = "reshape_audit_labels_test.cpp";
constexpr std::uint32_t first_line = __LINE__;

void two_windows(Journal& journal) {
  Tensor base = Tensor::zeros({4}, DType::f32);
  Tensor rows = base.reshape({2, 2}, AtThisLine());
  byre::fill_(written(rows), 1.0);
  journal.saw(base);
  byre::add_(written(base), 1.0);
  journal.saw(byre::sum(base));
  const Tensor doubled = byre::mul(rows, 2.0);
  journal.saw(doubled);
}

// Lines of it.
constexpr std::uint32_t reshape = first_line + 4;
constexpr std::uint32_t fill = first_line + 5;
constexpr std::uint32_t saw_base = first_line + 6;
constexpr std::uint32_t add = first_line + 7;
constexpr std::uint32_t saw_sum = first_line + 8;
constexpr std::uint32_t doubled = first_line + 9;
constexpr std::uint32_t saw_doubled = first_line + 10;

Label label(std::uint32_t write, std::uint32_t access, std::vector<std::uint32_t> seen = {}) {
  return {.pipeline = "two_windows",
          .file = file,
          .reshape = reshape,
          .write = write,
          .access = access,
          .access_writes = false,
          .advice = byre::shadow::Advice::view,
          .seen = std::move(seen)};
}

Audit audited(const std::vector<Label>& labels) {
  const QuietReports quiet;
  return audit({"two_windows", "", two_windows, {}}, labels);
}

/// The sum after the second write still has in it what the first left.
const Label of_base = label(fill, saw_base, {saw_sum});
const Label of_rows = label(add, doubled, {saw_doubled});

TEST(ReshapeAuditLabels, labels_of_every_line_that_differs_are_worth_all) {
  const Score score = audited({of_base, of_rows}).triples;
  EXPECT_EQ(score.labelled, 2U);
  EXPECT_EQ(score.precision(), 1.0);
  EXPECT_EQ(score.recall(), 1.0);
}

TEST(ReshapeAuditLabels, a_difference_that_no_label_names_lowers_recall) {
  const Score score = audited({label(fill, saw_base), of_rows}).triples;
  EXPECT_EQ(score.labelled, 3U);
  EXPECT_EQ(score.precision(), 1.0);
  EXPECT_DOUBLE_EQ(score.recall(), 2.0 / 3);
}

TEST(ReshapeAuditLabels, a_label_explains_no_line_after_those_it_names) {
  const Audit audit = audited({label(fill, saw_base, {saw_sum})});
  EXPECT_EQ(audit.triples.labelled, 2U);
  EXPECT_EQ(audit.triples.precision(), 0.5);
  EXPECT_EQ(audit.triples.recall(), 0.5);
}

TEST(ReshapeAuditLabels, a_label_of_what_is_not_shown_has_to_say_where_it_is_seen) {
  const Score score = audited({of_base, label(add, doubled)}).triples;
  EXPECT_EQ(score.labelled, 2U);
  EXPECT_EQ(score.right, 1U);
}

TEST(ReshapeAuditLabels, a_label_of_a_line_that_does_not_differ_is_worth_nothing) {
  const Score score = audited({of_base, label(add, doubled, {saw_doubled, fill})}).triples;
  EXPECT_EQ(score.precision(), 0.5);
}

bool has_fault(const Audit& audit, const char* text) {
  return std::ranges::any_of(audit.faults, [&](const std::string& fault) {
    return fault.find(text) != std::string::npos;
  });
}

/// Two reshapes, of which the second matters to nobody.
void one_of_two(Journal& journal) {
  Tensor base = Tensor::zeros({4}, DType::f32);
  Tensor rows = base.reshape({2, 2}, AtThisLine());
  const Tensor unused = base.reshape({4, 1}, AtThisLine());
  Tensor other = Tensor::zeros({4}, DType::f32);
  byre::fill_(written(other), 1.0);
  byre::fill_(written(rows), 1.0);
  journal.saw(base);
  journal.saw(other);
}
constexpr std::uint32_t one_of_two_line = __LINE__ - 10;

Audit audited_one_of_two(std::uint32_t reshape_after, std::uint32_t write_after) {
  const QuietReports quiet;
  const Label label{.pipeline = "one_of_two",
                    .file = file,
                    .reshape = one_of_two_line + reshape_after,
                    .write = one_of_two_line + write_after,
                    .access = one_of_two_line + 7,
                    .access_writes = false,
                    .advice = byre::shadow::Advice::view};
  return audit({"one_of_two", "", one_of_two, {}}, {label});
}

TEST(ReshapeAuditLabels, a_label_of_three_right_lines_is_worth_all) {
  const Audit audit = audited_one_of_two(2, 6);
  EXPECT_FALSE(has_fault(audit, "label"));
  EXPECT_EQ(audit.triples.precision(), 1.0);
  EXPECT_EQ(audit.triples.recall(), 1.0);
}

TEST(ReshapeAuditLabels, a_label_of_another_reshape_is_worth_nothing) {
  const Audit audit = audited_one_of_two(3, 6);
  EXPECT_TRUE(has_fault(audit, "does not change if only that reshape copies"));
  EXPECT_TRUE(has_fault(audit, "A label is missing: what is seen changes if only the reshape"));
  EXPECT_EQ(audit.triples.precision(), 0.0);
  EXPECT_EQ(audit.triples.recall(), 0.0);
}

TEST(ReshapeAuditLabels, a_label_of_another_write_is_worth_nothing) {
  const Audit audit = audited_one_of_two(2, 5);
  EXPECT_TRUE(has_fault(audit, "has not to do with that write"));
  EXPECT_EQ(audit.triples.precision(), 0.0);
  EXPECT_EQ(audit.triples.recall(), 0.0);
}

void sees_more_as_a_copy(Journal& journal) {
  Tensor base = Tensor::zeros({4}, DType::f32);
  Tensor rows = base.reshape({2, 2});
  byre::fill_(rows, 1.0);
  if (base.at<float>({0}) == 0) {
    journal.saw(rows);
  }
}

TEST(ReshapeAuditLabels, what_copies_alone_show_is_a_difference) {
  const QuietReports quiet;
  const Audit audited = audit({"sees_more", "", sees_more_as_a_copy, {}}, {});
  EXPECT_TRUE(audited.differs);
  EXPECT_EQ(audited.triples.labelled, 1U);
}

TEST(ReshapeAuditLabels, a_wrong_advice_is_a_fault) {
  Label wrong = of_rows;
  wrong.advice = byre::shadow::Advice::nothing;
  const Audit audit = audited({of_base, wrong});
  EXPECT_EQ(audit.advised, 1U);
  EXPECT_TRUE(has_fault(audit, "Advised is view, and nothing is right"));
  EXPECT_FALSE(has_fault(audited({of_base, of_rows}), "Advised"));
}

/// Reports another triple first in warn mode than is thrown in error mode.
void is_run_in_another_order(Journal& journal) {
  const bool is_tracked = byre::shadow::reshape_mode() == byre::shadow::ReshapeMode::error;
  Tensor base = Tensor::zeros({4}, DType::f32);
  Tensor rows = base.reshape({2, 2});
  byre::fill_(rows, 1.0);
  if (is_tracked) {
    journal.saw(base);
  }
  journal.saw(base);
}

TEST(ReshapeAuditLabels, what_is_thrown_has_to_be_what_is_reported_first) {
  const QuietReports quiet;
  EXPECT_TRUE(has_fault(audit({"another_order", "", is_run_in_another_order, {}}, {}),
                        "Error mode throws something else"));
  EXPECT_FALSE(has_fault(audited({of_base, of_rows}), "Error mode"));
}

TEST(ReshapeAuditLabels, a_pipeline_that_differs_without_a_label_is_one_that_relies) {
  const Score score = score_of_pipelines({audited({})});
  EXPECT_EQ(score.labelled, 1U);
  EXPECT_EQ(score.recall(), 1.0);
}

}  // namespace
}  // namespace examples::reshape_audit
