// SPDX-License-Identifier: BSL-1.0
/// Trains word embeddings: a small skip-gram with negative samples, one table for both roles of a
/// word. It knows nothing of byre or of snapshots; a table is anything that gives out rows to
/// write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace examples::live_checkpoint {

/// What is to be computed: the same plan gives the same bits, whatever table holds the rows.
struct Plan {
  std::vector<std::uint32_t> text;   ///< row numbers; at its end it starts over
  std::uint32_t rows = 0;            ///< words in the vocabulary
  std::uint32_t dimensions = 0;      ///< floats in a row
  std::uint64_t seed = 0;            ///< of the initial rows and of the negative samples
  std::uint64_t tokens = 0;          ///< to train
  std::uint64_t snapshot_every = 0;  ///< tokens

  std::uint64_t snapshots() const noexcept { return tokens / snapshot_every; }
  std::size_t row_nbytes() const noexcept { return std::size_t{dimensions} * sizeof(float); }
  std::size_t table_nbytes() const noexcept { return rows * row_nbytes(); }
};

/// SplitMix64: the same numbers on every machine, which the standard's distributions do not
/// promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }

  /// Below `bound`, which is not 0.
  std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }

 private:
  std::uint64_t state_;
};

/// Writes the values a row starts from: small, and given by the seed and the row's number.
void initialize_row(float* row, std::uint32_t number, const Plan& plan) noexcept;

/// One gradient step that draws two different rows together, or apart. Compiled once, out of line:
/// the compiler may contract floating-point operations in one place and not in another, and all
/// tables are to get the same bits.
void nudge(float* row, float* other, std::size_t dimensions, bool together) noexcept;

/// `Table` has row(number) -> float*, to read and write until the next snapshot.
template <class Table>
class Trainer {
 public:
  Trainer(const Plan& plan, Table& table) noexcept
      : plan_(&plan), table_(&table), random_(plan.seed) {}

  /// Trains the token at `index`; to be called for 0, 1, 2, ...
  void step(std::uint64_t index) {
    const std::uint32_t word = word_at(index);
    for (std::uint64_t back = 1; back <= std::min(index, neighbours); ++back) {
      learn(word, word_at(index - back), true);
    }
    // Negatives come from the text just read, as trainers that take them from their own batch do.
    const std::uint64_t recent = std::min(index, recent_tokens);
    for (int sample = 0; recent != 0 && sample < negatives; ++sample) {
      learn(word, word_at(index - 1 - random_.below(recent)), false);
    }
  }

 private:
  static constexpr std::uint64_t neighbours = 5;
  static constexpr int negatives = 5;
  static constexpr std::uint64_t recent_tokens = 4096;

  std::uint32_t word_at(std::uint64_t index) const noexcept {
    return plan_->text[index % plan_->text.size()];
  }

  void learn(std::uint32_t word, std::uint32_t other, bool together) {
    if (word != other) {
      nudge(table_->row(word), table_->row(other), plan_->dimensions, together);
    }
  }

  const Plan* plan_;
  Table* table_;
  Random random_;
};

}  // namespace examples::live_checkpoint
