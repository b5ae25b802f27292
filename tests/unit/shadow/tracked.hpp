// SPDX-License-Identifier: BSL-1.0
/// View families without tensors: a storage, its reshapes, and accesses at lines that are made up.
#pragma once

#include <byre/shadow/detail/storage_shadow.hpp>
#include <byre/shadow/summary.hpp>

#include <gtest/gtest.h>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace byre::test {

using shadow::Advice;
using shadow::ReshapeMode;
using shadow::ReshapeViolation;
using shadow::ShadowHandle;
using shadow::ShadowStorage;
using shadow::Violation;

using Sizes = std::vector<std::int64_t>;

inline const char* const model_file = "src/model/layers.cpp";

/// A storage whose families access it at lines of `model_file`, or of another.
class Tracked {
 public:
  /// `sizes` are of what is accessed through the default family.
  explicit Tracked(Sizes sizes = {2, 3}) : sizes_(std::move(sizes)) {}

  ShadowHandle reshape(std::uint32_t line, ShadowStorage* origin = nullptr,
                       ReshapeMode mode = ReshapeMode::warn) {
    return shadow::detail::link_by_reshape(storage_, origin, mode, access(line), to_sizes_);
  }
  void read(ShadowStorage* family, std::uint32_t line) {
    shadow::detail::record_read(storage_, family, access(line));
  }
  void write(ShadowStorage* family, std::uint32_t line, bool is_of_all = true,
             bool escapes = false) {
    const shadow::detail::Access written{{file_, line}, sizes_, is_of_all, escapes};
    shadow::detail::begin_write(storage_, family, written);
    shadow::detail::end_write(storage_, family, written);
  }
  /// And then the write fails.
  void begin_write(ShadowStorage* family, std::uint32_t line) {
    shadow::detail::begin_write(storage_, family, access(line));
  }
  void mark_synced(ShadowStorage* family) { shadow::detail::mark_synced(storage_, family); }
  /// A raw pointer to write leaves.
  void escape(ShadowStorage* family, std::uint32_t line) { write(family, line, false, true); }

  /// At lines 10, 11 and 12: what is written through the reshaped is read through the input.
  void violate(ReshapeMode mode = ReshapeMode::warn) {
    const ShadowHandle flat = reshape(10, nullptr, mode);
    write(flat.get(), 11);
    read(nullptr, 12);
  }

  const Storage& storage() const { return storage_; }
  Sizes& sizes() { return sizes_; }
  Sizes& to_sizes() { return to_sizes_; }
  const char*& file() { return file_; }

 private:
  shadow::detail::Access access(std::uint32_t line) const { return {{file_, line}, sizes_}; }

  Storage storage_ = Storage::allocate(24);
  Sizes sizes_;
  Sizes to_sizes_{6};
  const char* file_ = model_file;
};

/// Catches the reports of all threads while it lives, of a book that begins anew. One at a time.
class CaughtReports {
 public:
  CaughtReports() : previous_(shadow::set_violation_handler(&keep)) {
    shadow::reset_summary();
    kept().clear();
  }
  ~CaughtReports() {
    shadow::set_violation_handler(previous_);
    shadow::reset_summary();
  }
  CaughtReports(const CaughtReports&) = delete;
  CaughtReports& operator=(const CaughtReports&) = delete;

  std::vector<Violation> all() const {
    const boost::lock_guard<boost::mutex> lock(mutex());
    return kept();
  }
  std::size_t count() const { return all().size(); }
  /// The only one. Fails if there is another number of them.
  Violation only() const {
    const auto violations = all();
    EXPECT_EQ(violations.size(), 1U);
    return violations.empty() ? Violation{} : violations.front();
  }

 private:
  static boost::mutex& mutex() {
    static boost::mutex instance;
    return instance;
  }
  static std::vector<Violation>& kept() {
    static std::vector<Violation> instance;
    return instance;
  }
  static void keep(const Violation& violation) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex());
    kept().push_back(violation);
  }

  const shadow::ViolationHandler previous_;
};

/// A test whose reports are caught.
class Shadows : public testing::Test {
 protected:
  CaughtReports reports;
  Tracked tracked;
};

}  // namespace byre::test
