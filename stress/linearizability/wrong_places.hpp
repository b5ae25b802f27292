// SPDX-License-Identifier: BSL-1.0
/// Wrong designs that the search has to refute. Each is plausible, corrupts no memory, and is right
/// as long as one thread uses it.
#pragma once

#include <byre/storage/atomic_buffer.hpp>
#include <byre/storage/storage.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace byre::stress::histories::wrong {

/// Two exchanges at once return one former content, and lose the content that the first one stored.
template <class Value>
struct ExchangesByLoadAndStore : basic_atomic<Value> {
  Value exchange(Value desired) {
    Value former = this->load();
    this->store(std::move(desired));
    return former;
  }
};

/// A store between the comparison and the exchange is lost.
template <class Value>
struct ComparesThenStores : basic_atomic<Value> {
  bool compare_exchange(Value& expected, Value desired) {
    if (!this->holds(expected)) {
      Value content = this->load();
      if (!this->holds(expected)) {
        expected = std::move(content);
        return false;
      }
    }
    this->store(std::move(desired));
    return true;
  }
};

/// A load returns what the thread loaded last if the version has not changed since. But a store
/// counts itself only after it has replaced the content, so another thread may have loaded the new
/// content by then.
template <class Value>
class CachesByVersion : public basic_atomic<Value> {
  using Place = basic_atomic<Value>;

 public:
  Value load() const {
    static thread_local Cache cache;
    const std::uint64_t version = Place::version();
    if (cache.place != number_ || cache.version != version) {
      cache = {number_, version, Place::load()};
    }
    return cache.value.lazy_clone();
  }

 private:
  struct Cache {
    std::uint64_t place = 0;
    std::uint64_t version = 0;
    Value value{};
  };

  static inline std::atomic<std::uint64_t> places{0};
  const std::uint64_t number_ = places.fetch_add(1) + 1;
};

/// A store counts itself before it replaces the content, so a load after a new version may return
/// the former content.
template <class Value>
class CountsFirst : public basic_atomic<Value> {
  using Place = basic_atomic<Value>;

 public:
  void store(Value desired) {
    version_.fetch_add(1);
    Place::store(std::move(desired));
  }
  Value exchange(Value desired) {
    version_.fetch_add(1);
    return Place::exchange(std::move(desired));
  }
  bool compare_exchange(Value& expected, Value desired) {
    version_.fetch_add(1);
    const bool has_replaced = Place::compare_exchange(expected, std::move(desired));
    if (!has_replaced) {
      version_.fetch_sub(1);
    }
    return has_replaced;
  }
  std::uint64_t version() const noexcept { return version_.load(); }

 private:
  std::atomic<std::uint64_t> version_{0};
};

/// Copies even if no other owner is left, as an eager design does: N owners make N copies.
struct CopiesAlways {
  template <class Value>
  static Materialized materialize(Value& value) {
    const Value original = value.lazy_clone();
    return value.materialize();
  }
};

/// Tests whether other owners exist, and later writes. Another owner that tests meanwhile copies,
/// too, although one of the two could keep the data.
struct TestsThenCopies {
  template <class Value>
  static Materialized materialize(Value& value) {
    return value.is_unique() ? value.materialize() : CopiesAlways::materialize(value);
  }
};

}  // namespace byre::stress::histories::wrong
