// SPDX-License-Identifier: BSL-1.0
#include "execution.hpp"

#include <algorithm>

#include "trace.hpp"

namespace byre::verification {
namespace {

alignas(64) std::array<std::byte, std::size_t{1} << 18> memory;

}  // namespace

Execution* Execution::current_ = nullptr;

Execution::Execution() {
  current_ = this;
  trace.clear();
}

Execution::~Execution() {
  for (; singletons_ != nullptr; singletons_ = singletons_->next) {
    singletons_->destroy(singletons_->object);
  }
  for (std::size_t i = 0; i < bucket_count_; ++i) {
    buckets_[i].lock->~ModelLock();
  }
}

void* Execution::allocate(std::size_t nbytes, std::size_t alignment) {
  const std::size_t begin = (used_nbytes_ + alignment - 1) / alignment * alignment;
  if (begin + nbytes > memory.size()) {
    fail(Verdict::checker_error, "the scenario needs more memory than the model has");
  }
  used_nbytes_ = begin + nbytes;
  return memory.data() + begin;
}

void Execution::name(const void* begin, std::size_t nbytes, const char* name) noexcept {
  if (trace.is_recording() && name_count_ < names_.size()) {
    Named& entry = names_[name_count_++];
    entry.begin = begin;
    entry.nbytes = nbytes;
    std::snprintf(entry.name.data(), entry.name.size(), "%s", name);
  }
}

void Execution::name_of(const void* address, std::array<char, 24>& name) noexcept {
  for (std::size_t i = name_count_; i-- > 0;) {
    const auto begin = reinterpret_cast<std::uintptr_t>(names_[i].begin);
    const auto offset = reinterpret_cast<std::uintptr_t>(address) - begin;
    if (offset < names_[i].nbytes) {
      std::snprintf(name.data(), name.size(), "%s", names_[i].name.data());
      return;
    }
  }
  // Unnamed addresses are numbered in the order in which they appear.
  std::snprintf(name.data(), name.size(), "object[%u]", nameless_count_++);
  this->name(address, 1, name.data());
}

void Execution::wait_at(const void* address, CallSite where) {
  rl::context& context = rl::ctx();
  if (waiter_count_ == most) {
    fail(Verdict::checker_error, "too many threads wait at once");
  }
  waiters_[waiter_count_++] = {address, context.current_thread()};
  context.park_current_thread(false, false, false, to_relacy(where));
}

void Execution::unpark_all(const void* address, CallSite where) {
  std::size_t kept = 0;
  const std::size_t count = waiter_count_;
  for (std::size_t i = 0; i < count; ++i) {
    if (waiters_[i].address == address) {
      rl::ctx().unpark_thread(waiters_[i].thread, false, to_relacy(where));
    } else {
      waiters_[kept++] = waiters_[i];
    }
  }
  waiter_count_ = kept;
}

void Execution::unpark_one(const void* address, CallSite where) {
  Waiter* const end = waiters_.data() + waiter_count_;
  const auto waits_there = [&](const Waiter& waiter) { return waiter.address == address; };
  const auto count = std::count_if(waiters_.data(), end, waits_there);
  if (count == 0) {
    return;
  }
  Waiter* chosen = std::find_if(waiters_.data(), end, waits_there);
  for (unsigned next = rl::rand(static_cast<unsigned>(count)); next != 0; --next) {
    chosen = std::find_if(chosen + 1, end, waits_there);
  }
  rl::ctx().unpark_thread(chosen->thread, false, to_relacy(where));
  std::move(chosen + 1, end, chosen);
  --waiter_count_;
}

ModelLock& Execution::bucket_of(const void* address) {
  for (std::size_t i = 0; i < bucket_count_; ++i) {
    if (buckets_[i].address == address) {
      return *buckets_[i].lock;
    }
  }
  if (bucket_count_ == most) {
    fail(Verdict::checker_error, "threads wait at too many addresses");
  }
  Bucket& bucket = buckets_[bucket_count_++];
  bucket.address = address;
  bucket.lock = ::new (allocate(sizeof(ModelLock), alignof(ModelLock))) ModelLock;
  return *bucket.lock;
}

bool Execution::returns_spuriously() {
  if (spurious_returns_ == 0 || rl::rand(2) == 0) {
    return false;
  }
  --spurious_returns_;
  return true;
}

void format_value(std::array<char, 120>& text, const char* verb, const sync::Site* site,
                  std::uint64_t value) noexcept {
  if (site != nullptr && site->name.starts_with("share_word.")) {
    const auto owners = static_cast<unsigned>(value & 0x7FFF'FFFF);
    const auto copies = static_cast<unsigned>(value >> 32 & 0x7FFF'FFFF);
    std::snprintf(text.data(), text.size(), "%s %u owner%s%s%.0u%s%s%s", verb, owners,
                  owners == 1 ? "" : "s", copies == 0 ? "" : ", ", copies,
                  copies == 0   ? ""
                  : copies == 1 ? " copy"
                                : " copies",
                  (value >> 31 & 1) != 0 ? ", waiting" : "",
                  (value >> 63) != 0 ? ", read-only" : "");
  } else {
    std::snprintf(text.data(), text.size(), "%s %llu", verb,
                  static_cast<unsigned long long>(value));
  }
}

}  // namespace byre::verification
