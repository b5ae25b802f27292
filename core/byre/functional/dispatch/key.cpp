// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/key.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/published.hpp>

#include <array>
#include <memory>
#include <new>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// The registered backends, by key. Lookups take no lock. The built-in backends are members, and
/// their names fit the small-string buffer, so naming a key in an error allocates nothing.
class Backends {
 public:
  Backends() {
    for (std::size_t index = 0; index < builtin_.size(); ++index) {
      backends_[index].set(&builtin_[index]);
    }
  }

  Key add(BackendTraits traits) {
    auto added = std::make_unique<const BackendTraits>(std::move(traits));
    const sync::ProcessLock lock(mutex_);
    std::size_t count = 0;
    for (; count < max_count && backends_[count].get() != nullptr; ++count) {
      if (backends_[count].get()->name == added->name) {
        throw InvalidArgument(format_text(
            "add_backend: the name '%s' is taken. Choose another name.", added->name.c_str()));
      }
    }
    if (count == max_count) {
      throw InvalidArgument(format_text("add_backend: cannot add '%s': all %zu keys are taken.",
                                        added->name.c_str(), count));
    }
    backends_[count].set(added.release());
    return static_cast<Key>(count);
  }

  const BackendTraits* find(Key key) const noexcept {
    const auto index = static_cast<std::size_t>(key);
    return index < max_count ? backends_[index].get() : nullptr;
  }

 private:
  static constexpr auto max_count = static_cast<std::size_t>(Key::last_of_users) + 1;

  const std::array<BackendTraits, 2> builtin_{{
      {.name = "cpu", .writes_through_strides = true},
      {.name = "graph"},
  }};
  sync::ProcessMutex mutex_;  // held while a backend is added
  std::array<sync::detail::Published<const BackendTraits>, max_count> backends_;
};

Backends& backends() noexcept {
  return sync::no_destructor<Backends>();
}

}  // namespace

Key add_backend(BackendTraits traits) try {
  return backends().add(std::move(traits));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("add_backend");
}

const BackendTraits& traits_of(Key backend) {
  if (const BackendTraits* const found = backends().find(backend)) {
    return *found;
  }
  throw InvalidArgument(
      format_text("traits_of: unknown backend key %u. Use a key from add_backend().",
                  static_cast<unsigned>(backend)));
}

const char* name_of(Key key) noexcept {
  switch (key) {
    case Key::functionalize:
      return "functionalize";
    case Key::batched:
      return "batched";
    default:
      break;
  }
  const BackendTraits* const found = backends().find(key);
  return found == nullptr ? "?" : found->name.c_str();
}

std::string to_string(KeySet keys) try {
  std::string text;
  for (unsigned number = 0; number < key_count; ++number) {
    if (const Key key = static_cast<Key>(number); keys.has(key)) {
      text += (text.empty() ? "" : ", ") + std::string(name_of(key));
    }
  }
  return text.empty() ? "none" : text;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_string");
}

}  // namespace byre::inline BYRE_ABI::functional
