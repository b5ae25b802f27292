// SPDX-License-Identifier: BSL-1.0
/// The oracle: what buffers are without lazy copies. Every value has bytes of its own, copied
/// eagerly, so that nothing one value does can reach another. Beside the bytes stands a ledger of
/// who would share what, by which counters, owners and copies are predicted to the last one.
#pragma once

#include <byre/cow/share_word.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/stats/counters.hpp>
#include <byre/stats/events.hpp>
#include <byre/storage/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace byre::fuzz {

using Bytes = std::vector<std::byte>;

/// A copy that sinks are told of.
struct Copy {
  std::size_t nbytes;
  stats::CopyCause cause;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// What should have been counted so far.
struct Ledger {
  stats::Counters counters;
  std::vector<Copy> copies;
  std::map<const Allocator*, std::size_t> blocks;  ///< of each allocator
  std::size_t adopted = 0;                         ///< memory not yet released by its deleter
};

/// What values would share if they were lazy: it lives as long as one of them owns it or copies it.
class Data {
 public:
  struct Description {
    Origin origin = Origin::allocated;
    Allocator* allocator = nullptr;
    std::size_t capacity = 0;
    bool read_only = false;
    /// Borrowed memory, which ends with the last owner: no clone may still need it.
    std::unique_ptr<std::byte[]> lent = nullptr;
  };

  Data(Ledger& ledger, Description description);
  ~Data();
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  const Description& is() const noexcept { return description_; }
  unsigned copies = 0;  ///< under way, by who owned it before

 private:
  Ledger& ledger_;
  Description description_;
};

struct Value {
  Bytes bytes;
  std::shared_ptr<Data> data;  ///< none: no bytes and no memory
  bool busy = false;           ///< a call on it is under way

  std::size_t owners() const noexcept {
    return data == nullptr ? 0 : static_cast<std::size_t>(data.use_count()) - data->copies;
  }
  bool is_unique() const noexcept {
    return data == nullptr || (owners() == 1 && data->copies == 0);
  }
  Origin origin() const noexcept { return data == nullptr ? Origin::allocated : data->is().origin; }
  bool is_read_only() const noexcept { return data != nullptr && data->is().read_only; }
  Allocator& allocator() const noexcept;
  bool is_borrowed() const noexcept { return data != nullptr && origin() == Origin::borrowed; }
};

/// The steps of values that count. A copy has a begin and an end, as others may act meanwhile.
class Model {
 public:
  const Ledger& ledger() const noexcept { return ledger_; }
  /// What has been counted so far.
  stats::Counters counted() const noexcept { return stats::snapshot() - before_; }

  Value make(Bytes bytes, Data::Description description);

  /// Data that byre has just allocated; its capacity is what `live_bytes` has grown by, within
  /// what the allocator may add.
  Value allocated(Bytes bytes, Allocator& allocator);

  /// Of what is not borrowed.
  Value lazy_clone(const Value& source);
  /// The copy that a lazy clone of borrowed memory made.
  void count_borrowed_copy(const Value& source);

  /// A write, which is refused if it fails. Materialized is what it has to answer.
  struct Write {
    Materialized answer = Materialized::already_unique;
    stats::CopyCause cause = stats::CopyCause::shared;
    std::shared_ptr<Data> source = nullptr;  ///< what the writer no longer owns, but copies
  };
  static Write begin_write(Value& value, Wait wait);
  void end_write(Value& value, Write&& write);
  static void refuse_write(Value& value, Write&& write);

  /// A resize beyond the capacity is complete.
  void end_move(Value& value, std::size_t nbytes);

 private:
  std::size_t new_capacity(const Bytes& bytes, const Allocator& allocator) const;
  void count_copy(std::size_t nbytes, stats::CopyCause cause);

  Ledger ledger_;
  const stats::Counters before_ = stats::snapshot();
};

}  // namespace byre::fuzz
