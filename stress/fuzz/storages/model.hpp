// SPDX-License-Identifier: BSL-1.0
/// Model: the reference model, buffers without lazy copies. Every value has its own bytes, copied eagerly, so
/// that no value can reach another. Beside the bytes it predicts the sharing, and so every counter, owner and
/// copy.
#pragma once

#include <byre/cow/share_word.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/storage/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace byre::fuzz {

using Bytes = std::vector<std::byte>;

/// A copy as sinks are told of it.
struct Copy {
  std::size_t nbytes;
  stats::CopyCause cause;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// The predicted counts so far.
struct Predictions {
  stats::Counters counters;
  std::vector<Copy> copies;
  std::map<const Allocator*, std::size_t> blocks;  ///< of each allocator
  std::size_t adopted = 0;                         ///< memory not yet released by its deleter
};

/// What lazy values would share. It lives while one of them owns or copies it.
class Data {
 public:
  struct Description {
    Origin origin = Origin::allocated;
    Allocator* allocator = nullptr;
    std::size_t capacity = 0;
    bool read_only = false;
    std::byte* others_data = nullptr;  ///< of borrowed and aliased memory: where others write it
    /// Of borrowed memory, which ends with the last owner: no clone may need it then.
    std::unique_ptr<std::byte[]> lender = nullptr;
  };

  Data(Predictions& predictions, Description description);
  ~Data();
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  const Description& is() const noexcept { return description_; }
  unsigned copies = 0;  ///< under way, by former owners

 private:
  Predictions& predictions_;
  Description description_;
};

struct Value {
  Bytes bytes;
  std::shared_ptr<Data> data;  ///< none: no bytes and no memory
  bool busy = false;           ///< a call on it is under way
  unsigned pins = 0;           ///< of a storage

  std::size_t owners() const noexcept {
    return data == nullptr ? 0 : static_cast<std::size_t>(data.use_count()) - data->copies;
  }
  bool is_unique() const noexcept {
    return data == nullptr || (owners() == 1 && data->copies == 0);
  }
  Origin origin() const noexcept { return data == nullptr ? Origin::allocated : data->is().origin; }
  bool is_read_only() const noexcept { return data != nullptr && data->is().read_only; }
  Allocator& allocator() const noexcept;
  /// Whether others write it by pointers of their own, as they may memory that they lent.
  bool has_others() const noexcept { return data != nullptr && data->is().others_data != nullptr; }
  /// How a lazy clone counts the copy that it makes at once; none if it shares the data.
  std::optional<stats::CopyCause> cause_of_eager_clone() const noexcept;
};

/// The steps that change counts. A copy begins and ends: other steps may run in between.
class Model {
 public:
  const Predictions& predictions() const noexcept { return predictions_; }
  /// byre's counters so far.
  stats::Counters counted() const noexcept { return stats::snapshot() - before_; }

  Value make(Bytes bytes, Data::Description description);

  /// Data that byre has just allocated. Its capacity is the growth of `live_bytes`, which is checked against
  /// what the allocator may add.
  Value allocated(Bytes bytes, Allocator& allocator) {
    return allocated(std::move(bytes), allocator, 0);
  }

  /// Of memory that is shared.
  Value lazy_clone(const Value& source);
  /// The copy that a lazy clone of other memory made.
  void count_eager_clone(const Value& source, stats::CopyCause cause) {
    count_copy(source.bytes.size(), cause);
  }

  /// A write; it is refused if it fails. `answer` is the predicted result.
  struct Write {
    Materialized answer = Materialized::already_unique;
    stats::CopyCause cause = stats::CopyCause::shared;
    std::shared_ptr<Data> source = nullptr;  ///< what the writer no longer owns, but copies
  };
  static Write begin_write(Value& value, Wait wait);
  void end_write(Value& value, Write&& write);
  static void refuse_write(Value& value, Write&& write);

  /// After a resize beyond the capacity.
  void end_move(Value& value, std::size_t nbytes);
  /// After a shrink_to_fit that found a smaller block.
  void end_shrink(Value& value);

 private:
  /// `asked` bytes were asked for, if that is more than there are.
  Value allocated(Bytes bytes, Allocator& allocator, std::size_t asked);
  std::size_t new_capacity(const Bytes& bytes, const Allocator& allocator, std::size_t asked) const;
  void count_copy(std::size_t nbytes, stats::CopyCause cause);

  Predictions predictions_;
  const stats::Counters before_ = stats::snapshot();
};

}  // namespace byre::fuzz
