// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/key.hpp>
#include <byre/sync/immortal.hpp>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <deque>

namespace byre::inline v0::functional {
namespace {

/// The backends there are, in the order of their keys. Traits stay where they are.
class Backends {
 public:
  Key add(BackendTraits traits) {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    for (const BackendTraits& other : backends_) {
      if (other.name == traits.name) {
        throw InvalidArgument(
            format_text("add_backend: there is a backend '%s' already. Give another name.",
                        traits.name.c_str()));
      }
    }
    if (backends_.size() > static_cast<std::size_t>(Key::last_of_users)) {
      throw InvalidArgument(format_text("add_backend: '%s' is one too many: there are %zu.",
                                        traits.name.c_str(), backends_.size()));
    }
    backends_.push_back(std::move(traits));
    return static_cast<Key>(backends_.size() - 1);
  }

  const BackendTraits* find(Key key) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    const auto index = static_cast<std::size_t>(key);
    return index < backends_.size() ? &backends_[index] : nullptr;
  }

 private:
  boost::mutex mutex_;
  std::deque<BackendTraits> backends_{
      {.name = "cpu", .writes_through_strides = true}, {.name = "graph"}, {.name = "texture"}};
};

Backends& backends() noexcept {
  return sync::immortal<Backends>();
}

}  // namespace

Key add_backend(BackendTraits traits) {
  return backends().add(std::move(traits));
}

const BackendTraits& traits_of(Key backend) {
  if (const BackendTraits* const found = backends().find(backend)) {
    return *found;
  }
  throw InvalidArgument(format_text("traits_of: key %u is of no backend. add_backend() gives keys.",
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

std::string to_string(KeySet keys) {
  std::string text;
  for (unsigned number = 0; number < key_count; ++number) {
    if (const Key key = static_cast<Key>(number); keys.has(key)) {
      text += (text.empty() ? "" : ", ") + std::string(name_of(key));
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace byre::inline v0::functional
