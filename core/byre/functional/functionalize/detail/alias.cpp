// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/detail/alias.hpp>
#include <byre/functional/functionalize/functional_tensor.hpp>
#include <byre/memory/budget_exceeded.hpp>
#include <byre/sync/detail/held_locks.hpp>

#include <algorithm>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

bool uses_strides(const AnyTensor& base, ViewPaths paths) {
  if (paths != ViewPaths::by_backend) {
    return paths == ViewPaths::strides;
  }
  const Key key = base.keys().highest();
  return is_backend(key) && traits_of(key).writes_through_strides;
}

/// Returns `value` as a base for views in memory: contiguous, and filling its storage. On the CPU,
/// results of pure operators may be permuted or share a larger storage.
AnyTensor base_for_views(const AnyTensor& value) {
  const CpuTensor* const on_cpu = value.as<CpuTensor>();
  return on_cpu == nullptr ||
                 geometry_of(on_cpu->value) == ViewGeometry::of_all(value.sizes(), value.dtype())
             ? value
             : from_cpu(on_cpu->value.clone());
}

thread_local detail::AliasBounds bounds_of_thread;

/// Requests of memory under the lock call no reclaimers, which could wait for the lock.
struct Locked {
  explicit Locked(sync::Mutex& mutex) : lock(mutex) {}
  sync::Lock lock;
  sync::detail::HoldsLock held;
};

/// Returns `compute()`, which runs under the lock. If that exceeds a budget, calls reclaimers
/// without the lock, and `compute` again.
template <class Compute>
auto under_lock(sync::Mutex& mutex, const Compute& compute) {
  return byre::detail::within_budget(nullptr, [&] {
    const Locked lock(mutex);
    return compute();
  });
}

}  // namespace

detail::AliasBounds& detail::alias_bounds() noexcept {
  return bounds_of_thread;
}

Alias::Alias(AnyTensor base, FunctionalizeOptions options, BatchLevel level)
    : backend_(base.keys()),
      reapply_views_(options.reapply_views),
      strides_(uses_strides(base, options.paths)),
      level_(level),
      base_(std::move(base)) {}

// ---- recording a write

void Alias::prepare_write(const ViewPath& path, const char* operation, std::size_t count) {
  const Layout& layout = path.geometry().layout;
  if (path.geometry().overlaps_itself()) {
    throw ShapeError(format_text(
        "%s: cannot write a tensor whose elements share memory: sizes %s, strides %s, as from "
        "expand or as_strided. Call clone() on it first.",
        operation, byre::to_string(layout.sizes).c_str(), byre::to_string(layout.strides).c_str()));
  }
  if (captured_) {
    throw FunctionalizeError(format_text(
        "%s: cannot write a captured tensor, %s%s: the write would be lost. Make it an input, or "
        "write to a clone().",
        operation, byre::name_of(path.geometry().dtype), byre::to_string(layout.sizes).c_str()));
  }
  under_lock(mutex_, [&] {
    if (first_tensor_ != nullptr) {
      std::exchange(first_tensor_, nullptr)->initial = {};
    }
    if (!updates_.empty() && updates_.size() + count >= max_updates_) {
      apply_updates();
      ++bounds_of_thread.updates_reached;
    }
    updates_.reserve(updates_.size() + count);
  });
}

void Alias::write(ViewPath path, AnyTensor value, CachedView& cached) noexcept {
  const Locked lock(mutex_);
  cached = {path.is_base() ? AnyTensor() : value, ++generation_, true, !path.is_base()};
  if (path.last() != nullptr) {
    path.last()->cached = &cached;
  }
  if (path.geometry().covers_storage()) {
    updates_.clear();
    applied_.clear();
    is_all_written_ = path.is_base();
  }
  if (path.is_base()) {
    base_ = std::move(value);
    return;
  }
  // Replaces an earlier update of an equal geometry, no matter which updates came between.
  std::erase_if(updates_, [&path](const Update& earlier) {
    return earlier.path.geometry() == path.geometry();
  });
  BYRE_ASSERT(updates_.size() < updates_.capacity(),
              "prepare_write() was not called before the write");
  updates_.push_back({std::move(path), std::move(value)});
}

// ---- reads

bool Alias::is_current(const CachedView& cached) const noexcept {
  return bool(cached.value) && cached.generation == generation_;
}

bool Alias::is_equal_in_base(const CachedView& cached) const noexcept {
  // Bytes that are written to bools through views of other dtypes become 0 or 1 in the base.
  return is_current(cached) && !(cached.is_written && base_.dtype() == DType::boolean);
}

const AnyTensor& Alias::synced_base() {
  apply_updates();
  if (reapply_views_) {
    base_ = base_for_views(base_);
  }
  return base_;
}

AnyTensor Alias::sync_base() {
  return under_lock(mutex_, [&] { return synced_base(); });
}

CachedView Alias::nearest_current(const ViewPath& path, std::vector<const ViewLink*>& links) {
  links.clear();
  for (const ViewLink* link = path.last(); link != nullptr; link = link->before.get()) {
    if (CachedView* const cached = link->cached) {
      if (is_equal_in_base(*cached)) {
        return {cached->value, generation_, false, cached->has_own_strides};
      }
      if (!is_current(*cached)) {
        cached->value = {};  // frees the old value before the new one is computed
      }
    }
    links.push_back(link);
  }
  return {synced_base(), generation_};
}

AnyTensor Alias::sync(const ViewPath& path, CachedView& cached) {
  std::vector<const ViewLink*> links;
  bool is_done = false;
  CachedView nearest = under_lock(mutex_, [&] {
    is_done = is_current(cached);
    if (is_done) {
      return cached;
    }
    cached.value = {};
    CachedView found = nearest_current(path, links);
    is_done = path.is_base();
    if (is_done) {
      cached.generation = found.generation;
    }
    return found;
  });
  if (is_done) {
    return nearest.value;
  }
  // Replays without the lock, so that uses of other views need not wait. Two threads that use the
  // same view may both replay it.
  const ExcludeKeys pass(Key::functionalize);
  if (path.last() == nullptr) {
    nearest.value = path.replay(nearest.value, reapply_views_);
  }
  for (; !links.empty(); links.pop_back()) {
    const ViewInfo& view = links.back()->info;
    const bool as_view = reapply_views_ && !(nearest.has_own_strides && view.depends_on_strides());
    nearest.value = view.replay(nearest.value, as_view);
    const Locked lock(mutex_);
    if (CachedView* const link_cache = links.back()->cached;
        link_cache != nullptr && !is_current(*link_cache)) {
      *link_cache = nearest;
    }
  }
  const Locked lock(mutex_);
  cached = nearest;  // a view has no initial value that could be lost
  if (path.last() != nullptr) {
    path.last()->cached = &cached;
  }
  return nearest.value;
}

std::uint64_t Alias::generation() const noexcept {
  const Locked lock(mutex_);
  return generation_;
}

void Alias::apply_updates() {
  if (updates_.empty()) {
    return;
  }
  const ExcludeKeys pass(Key::functionalize);
  if (!is_all_written_) {
    applied_.reserve(std::min(max_regions_, applied_.size() + updates_.size()));
  }
  std::size_t applied = 0;
  try {
    for (; applied < updates_.size(); ++applied) {
      Update& update = updates_[applied];
      // In two steps: if apply_inverse() throws, the base is unchanged.
      AnyTensor next = update.path.apply_inverse(base_, update.value);
      base_ = std::move(next);
      record_applied(std::move(update.path));
    }
  } catch (...) {
    updates_.erase(updates_.begin(), updates_.begin() + static_cast<std::ptrdiff_t>(applied));
    throw;
  }
  updates_.clear();
}

// ---- written regions

void Alias::record_applied(ViewPath path) noexcept {
  const auto has_this_geometry = [&path](const ViewPath& other) {
    return other.geometry() == path.geometry();
  };
  if (is_all_written_ || std::any_of(applied_.begin(), applied_.end(), has_this_geometry)) {
    return;
  }
  const bool is_over_limit = applied_.size() >= max_regions_;
  if (path.geometry().covers_storage() || is_over_limit) {
    bounds_of_thread.regions_reached += is_over_limit ? 1 : 0;
    is_all_written_ = true;
    applied_.clear();
  } else {
    applied_.push_back(std::move(path));
  }
}

std::vector<Alias::Region> Alias::written_regions(bool values) {
  return under_lock(mutex_, [&] { return written_regions_locked(values); });
}

std::vector<Alias::Region> Alias::written_regions_locked(bool values) {
  const ExcludeKeys pass(Key::functionalize);
  std::vector<Region> regions;
  if (is_all_written_) {
    regions.push_back({ViewGeometry::of_all(base_.sizes(), base_.dtype()), base_});
  }
  for (const ViewPath& path : applied_) {  // empty if all of the base is written
    const auto has_this_geometry = [&path](const Update& update) {
      return update.path.geometry() == path.geometry();
    };
    if (std::ranges::none_of(updates_, has_this_geometry)) {
      regions.push_back({path.geometry(), values ? path.replay(base_, false) : AnyTensor()});
    }
  }
  for (const Update& update : updates_) {
    regions.push_back({update.path.geometry(), update.value});
  }
  return regions;
}

std::size_t Alias::pending_updates() const noexcept {
  const Locked lock(mutex_);
  return updates_.size();
}

// ---- the tensors of the alias

void Alias::add_tensor(const ViewPath& path, CachedView& cached) noexcept {
  const Locked lock(mutex_);
  ++tensors_;
  if (path.last() != nullptr && path.last()->cached == nullptr) {
    path.last()->cached = &cached;
  }
}

void Alias::drop_tensor(const ViewPath& path, const CachedView& cached) noexcept {
  const Locked lock(mutex_);
  --tensors_;
  first_tensor_ = first_tensor_ == &cached ? nullptr : first_tensor_;
  if (path.last() != nullptr && path.last()->cached == &cached) {
    path.last()->cached = nullptr;
  }
}

std::size_t Alias::tensor_count() const noexcept {
  const Locked lock(mutex_);
  return tensors_;
}

}  // namespace byre::inline BYRE_ABI::functional
