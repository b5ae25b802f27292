// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/alias.hpp>

#include <algorithm>
#include <boost/thread/lock_guard.hpp>
#include <utility>

namespace byre::inline v0::functional {
namespace {

using Lock = boost::lock_guard<boost::mutex>;

bool has_strides(const AnyTensor& base, ViewPaths paths) {
  if (paths != ViewPaths::by_backend) {
    return paths == ViewPaths::strides;
  }
  const Key key = base.keys().highest();
  return is_backend(key) && traits_of(key).writes_through_strides;
}

/// True views are of a base that is all of its memory, in order; on the CPU, what pure operators return
/// may share more, and be permuted.
AnyTensor with_views(const AnyTensor& base) {
  const CpuTensor* const on_cpu = base.as<CpuTensor>();
  return on_cpu == nullptr || window_of(on_cpu->value) == Window::of_all(base.sizes(), base.dtype())
             ? base
             : from_cpu(on_cpu->value.clone());
}

thread_local detail::AliasBounds bounds_of_thread;

}  // namespace

detail::AliasBounds& detail::alias_bounds() noexcept {
  return bounds_of_thread;
}

Alias::Alias(AnyTensor base, FunctionalizeOptions options, BatchLevel level)
    : backend_(base.keys()),
      remove_(options.remove),
      strides_(has_strides(base, options.paths)),
      level_(level),
      base_(std::move(base)) {}

std::uint64_t Alias::generation() const noexcept {
  const Lock lock(mutex_);
  return generation_;
}

std::size_t Alias::pending_updates() const noexcept {
  const Lock lock(mutex_);
  return updates_.size();
}

std::size_t Alias::tensor_count() const noexcept {
  const Lock lock(mutex_);
  return tensors_;
}

void Alias::add_tensor(const ViewPath& path, Sight& sight) noexcept {
  const Lock lock(mutex_);
  ++tensors_;
  if (path.last() != nullptr && path.last()->sight == nullptr) {
    path.last()->sight = &sight;
  }
}

void Alias::drop_tensor(const ViewPath& path, const Sight& sight) noexcept {
  const Lock lock(mutex_);
  --tensors_;
  if (path.last() != nullptr && path.last()->sight == &sight) {
    path.last()->sight = nullptr;
  }
}

void Alias::add_tensor_elsewhere() noexcept {
  const Lock lock(mutex_);
  ++tensors_;
}

std::uint64_t Alias::generation_of(const Sight& sight) const noexcept {
  const Lock lock(mutex_);
  return sight.generation;
}

bool Alias::is_current(const Sight& sight) const noexcept {
  return bool(sight.value) && sight.generation == generation_;
}

bool Alias::is_what_the_base_holds(const Sight& sight) const noexcept {
  // Bytes that are written to bools through views of other dtypes become 0 or 1 in the base.
  return is_current(sight) && !(sight.is_written && base_.dtype() == DType::boolean);
}

const AnyTensor& Alias::up_to_date() {
  apply_updates();
  if (remove_ == Remove::mutations) {
    base_ = with_views(base_);
  }
  return base_;
}

Alias::Version Alias::current() {
  const Lock lock(mutex_);
  return {up_to_date(), generation_};
}

AnyTensor Alias::nearest(const ViewPath& path, std::vector<const ViewLink*>& links) {
  for (const ViewLink* link = path.last(); link != nullptr; link = link->before.get()) {
    if (Sight* const seen = link->sight) {
      if (is_what_the_base_holds(*seen)) {
        if (remove_ == Remove::mutations && seen->is_written) {
          *seen = {with_views(seen->value), generation_};
        }
        return seen->value;
      }
      if (!is_current(*seen)) {
        seen->value = {};  // what is old need not be kept beside what is new
      }
    }
    links.push_back(link);
  }
  return up_to_date();
}

AnyTensor Alias::see(const ViewPath& path, Sight& sight) {
  AnyTensor value;
  std::uint64_t generation = 0;
  std::vector<const ViewLink*> links;
  {
    const Lock lock(mutex_);
    if (is_current(sight)) {
      return sight.value;
    }
    sight.value = {};
    value = nearest(path, links);
    generation = generation_;
    if (path.is_base()) {
      sight.generation = generation;
      return value;
    }
  }
  // Without the lock: who sees another part need not wait. Who sees the same may replay it, too.
  const ExcludeKeys pass(Key::functionalize);
  if (path.last() == nullptr) {
    value = path.replay(value, remove_);
  }
  for (; !links.empty(); links.pop_back()) {
    value = links.back()->info.replay(value, remove_);
    const Lock lock(mutex_);
    if (Sight* const passed = links.back()->sight; passed != nullptr && !is_current(*passed)) {
      *passed = {value, generation};
    }
  }
  const Lock lock(mutex_);
  sight = {value, generation};
  if (path.last() != nullptr) {
    path.last()->sight = &sight;
  }
  return value;
}

void Alias::prepare_updates(std::size_t count) {
  const Lock lock(mutex_);
  if (!updates_.empty() && updates_.size() + count >= most_updates_) {
    ++bounds_of_thread.updates_met;
    apply_updates();
  }
  updates_.reserve(updates_.size() + count);
}

void Alias::update(ViewPath path, AnyTensor value, Sight& sight) noexcept {
  const Lock lock(mutex_);
  sight = {path.is_base() ? AnyTensor() : value, ++generation_, true};
  if (path.last() != nullptr) {
    path.last()->sight = &sight;
  }
  if (path.window().covers_base()) {
    updates_.clear();
    applied_.clear();
    is_all_applied_ = path.is_base();
  }
  if (path.is_base()) {
    base_ = std::move(value);
  } else {
    // An earlier one of the same place is overwritten, whatever came between.
    std::erase_if(updates_, [&path](const Update& earlier) {
      return earlier.path.window() == path.window();
    });
    BYRE_ASSERT(updates_.size() < updates_.capacity(), "an update came unprepared");
    updates_.push_back({std::move(path), std::move(value)});
  }
}

void Alias::apply_updates() {
  if (updates_.empty()) {
    return;
  }
  const ExcludeKeys pass(Key::functionalize);
  if (!is_all_applied_) {
    applied_.reserve(std::min(most_windows_, applied_.size() + updates_.size()));
  }
  std::size_t applied = 0;
  try {
    for (; applied < updates_.size(); ++applied) {
      Update& update = updates_[applied];
      // In two steps: where it throws, the base is still there.
      AnyTensor next = update.path.put_back(base_, update.value);
      base_ = std::move(next);
      note_applied(std::move(update.path));
    }
  } catch (...) {
    updates_.erase(updates_.begin(), updates_.begin() + static_cast<std::ptrdiff_t>(applied));
    throw;
  }
  updates_.clear();
}

void Alias::note_applied(ViewPath path) noexcept {
  const auto is_of_it = [&path](const ViewPath& other) { return other.window() == path.window(); };
  if (is_all_applied_ || std::any_of(applied_.begin(), applied_.end(), is_of_it)) {
    return;
  }
  const bool are_too_many = applied_.size() >= most_windows_;
  if (path.window().covers_base() || are_too_many) {
    bounds_of_thread.windows_met += are_too_many ? 1 : 0;
    is_all_applied_ = true;
    applied_.clear();
  } else {
    applied_.push_back(std::move(path));
  }
}

bool Alias::is_overwritten(const ViewPath& path) const noexcept {
  return std::any_of(updates_.begin(), updates_.end(), [&path](const Update& update) {
    return update.path.window() == path.window();
  });
}

std::vector<Window> Alias::written_windows() const {
  const Lock lock(mutex_);
  std::vector<Window> windows;
  if (is_all_applied_) {
    windows.push_back(Window::of_all(base_.sizes(), base_.dtype()));
  } else {
    for (const ViewPath& path : applied_) {
      if (!is_overwritten(path)) {
        windows.push_back(path.window());
      }
    }
  }
  for (const Update& update : updates_) {
    windows.push_back(update.path.window());
  }
  return windows;
}

std::vector<Alias::Part> Alias::written_parts() {
  const Lock lock(mutex_);
  const ExcludeKeys pass(Key::functionalize);
  std::vector<Part> parts;
  if (is_all_applied_) {
    parts.push_back({Window::of_all(base_.sizes(), base_.dtype()), base_});
  } else {
    for (const ViewPath& path : applied_) {
      if (!is_overwritten(path)) {
        parts.push_back({path.window(), path.replay(base_, Remove::mutations_and_views)});
      }
    }
  }
  for (const Update& update : updates_) {
    parts.push_back({update.path.window(), update.value});
  }
  return parts;
}

}  // namespace byre::inline v0::functional
