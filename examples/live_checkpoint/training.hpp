// SPDX-License-Identifier: BSL-1.0
/// Trains word embeddings: a small skip-gram model with negative samples, and one table for both
/// roles of a word. This code does not depend on byre or on snapshots; a table is any class with
/// row().
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace examples::live_checkpoint {
/// The parameters of a training. Equal plans produce equal bits in all kinds of tables.
struct Plan {
  std::vector<std::uint32_t> text;   ///< row numbers; repeated at the end
  std::uint32_t rows = 0;            ///< words in the vocabulary
  std::uint32_t dimensions = 0;      ///< floats in a row
  std::uint64_t tokens = 0;          ///< number of tokens to train
  std::uint64_t snapshot_every = 0;  ///< tokens between two snapshots
  std::uint32_t sparse_percent = 0;  ///< see Trainer; 0 trains embeddings

  std::size_t row_nbytes() const noexcept { return std::size_t{dimensions} * sizeof(float); }
  std::size_t table_nbytes() const noexcept { return rows * row_nbytes(); }
};

inline constexpr float learning_rate = 0.025F;

/// Sums are computed in eight lanes, an order of additions that vector units can execute.
inline constexpr std::size_t lanes = 8;

inline float dot(const float* left, const float* right, std::size_t count) noexcept {
  std::array<float, lanes> sums{};
  std::size_t index = 0;
  for (; index + lanes <= count; index += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sums[lane] += left[index + lane] * right[index + lane];
    }
  }
  for (; index < count; ++index) {
    sums[0] += left[index] * right[index];
  }
  float sum = 0;
  for (const float part : sums) {
    sum += part;
  }
  return sum;
}

/// A number from -0.5 / `dimensions` to 0.5 / `dimensions`.
inline float small_number(std::mt19937_64& random, std::size_t dimensions) {
  const auto bits = static_cast<std::uint32_t>(random() >> 40);
  const float scale = 1.0F / static_cast<float>(dimensions);
  return (static_cast<float>(bits) / static_cast<float>(1U << 24) - 0.5F) * scale;
}

/// Writes the initial values of a row: small numbers that depend only on the row's number.
inline void initialize_row(float* row, std::uint32_t number, std::size_t dimensions) {
  std::mt19937_64 random(number);
  for (std::size_t index = 0; index < dimensions; ++index) {
    row[index] = small_number(random, dimensions);
  }
}

/// One gradient step that moves two different rows together or apart. The function is not inlined:
/// the compiler might contract floating-point operations differently in each inlined copy, and all
/// tables must get equal bits.
[[gnu::noinline]] inline void nudge(float* __restrict row, float* __restrict other,
                                    std::size_t dimensions, bool together) noexcept {
  const float score = dot(row, other, dimensions);
  const float believed = 1.0F / (1.0F + std::exp(-score));
  const float step = learning_rate * ((together ? 1.0F : 0.0F) - believed);
  for (std::size_t index = 0; index < dimensions; ++index) {
    const float before = row[index];
    row[index] += step * other[index];
    other[index] += step * before;
  }
}

/// Adds a small number. Not inlined, like nudge().
[[gnu::noinline]] inline void adjust(float& element, float small) noexcept {
  element += learning_rate * small;
}

/// `Table` must have row(number), which returns a float* that is valid until the next snapshot.
///
/// With `sparse_percent`, replaces the training by what fine-tuning does to a table: between two
/// snapshots, that percentage of the elements changes slightly, at random places.
template <class Table>
class Trainer {
 public:
  Trainer(const Plan& plan, Table& table) : plan_(&plan), table_(&table) {}

  /// Trains the token at `index`. Must be called for 0, 1, 2, ... in order.
  void step(std::uint64_t index) {
    if (plan_->sparse_percent != 0) {
      change_elements(index % plan_->snapshot_every);
      return;
    }
    const std::uint32_t word = word_at(index);
    for (std::uint64_t back = 1; back <= std::min(index, neighbors); ++back) {
      learn(word, word_at(index - back), true);
    }
    // Negative samples come from recent text, as in trainers that sample from their batch.
    const std::uint64_t recent = std::min(index, recent_tokens);
    for (int sample = 0; recent != 0 && sample < negatives; ++sample) {
      learn(word, word_at(index - 1 - random_() % recent), false);
    }
  }

 private:
  static constexpr std::uint64_t neighbors = 5;
  static constexpr int negatives = 5;
  static constexpr std::uint64_t recent_tokens = 4096;

  std::uint32_t word_at(std::uint64_t index) const noexcept {
    return plan_->text[index % plan_->text.size()];
  }

  /// `index` counts from the last snapshot.
  void change_elements(std::uint64_t index) {
    const std::uint64_t changes =
        std::uint64_t{plan_->rows} * plan_->dimensions * plan_->sparse_percent / 100;
    const auto until = [&](std::uint64_t end) { return changes * end / plan_->snapshot_every; };
    for (std::uint64_t left = until(index + 1) - until(index); left > 0; --left) {
      float* const row = table_->row(static_cast<std::uint32_t>(random_() % plan_->rows));
      const std::uint64_t column = random_() % plan_->dimensions;
      adjust(row[column], small_number(random_, plan_->dimensions));
    }
  }

  void learn(std::uint32_t word, std::uint32_t other, bool together) {
    if (word != other) {
      nudge(table_->row(word), table_->row(other), plan_->dimensions, together);
    }
  }

  const Plan* plan_;
  Table* table_;
  std::mt19937_64 random_;  // default seed: equal numbers on every machine
};

}  // namespace examples::live_checkpoint
