// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/registry.hpp>
#include <byre/functional/operators/builtin.hpp>
#include <byre/sync/immortal.hpp>

#include <algorithm>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/shared_mutex.hpp>
#include <map>

namespace byre::inline v0::functional {
namespace {

using ReadLock = boost::shared_lock<boost::shared_mutex>;
using WriteLock = boost::unique_lock<boost::shared_mutex>;

struct Registry {
  boost::shared_mutex mutex;
  // Operators and kernels stay where they are: who found one uses it without the lock.
  std::map<std::string, std::unique_ptr<Operator>, std::less<>> operators;
  std::array<std::unique_ptr<const Kernel>, key_count> fallbacks;
};

Registry& bare_registry() noexcept {
  return sync::immortal<Registry>();
}

/// With the operators that come along. Defining those finds the bare one.
Registry& registry() {
  static const bool is_filled = (detail::define_builtin_operators(), true);
  static_cast<void>(is_filled);
  return bare_registry();
}

template <class Part>
void set_once(std::unique_ptr<const Part>& place, Part part, const char* what, const char* of) {
  auto made = std::make_unique<const Part>(std::move(part));
  const WriteLock lock(bare_registry().mutex);
  if (place != nullptr) {
    throw DispatchError(format_text("%s has %s already: each is registered once.", of, what));
  }
  place = std::move(made);
}

template <class Part>
const Part* read(const std::unique_ptr<const Part>& place) noexcept {
  const ReadLock lock(bare_registry().mutex);
  return place.get();
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// The names that `name` may have been meant for: its overloads, and those spelled nearly so.
std::string names_near(const Registry& registry, std::string_view name) {
  const std::string_view stem = name.substr(0, name.find('.'));
  std::string text;
  for (const auto& [known, op] : registry.operators) {
    if (op->schema().name == stem || edit_distance(known, name) <= name.size() / 3) {
      text += (text.empty() ? "" : ", ") + known;
    }
  }
  return text;
}

Definition define_in(Registry& registry, Schema schema) {
  auto made = std::make_unique<Operator>(std::move(schema));
  const WriteLock lock(registry.mutex);
  const auto [place, is_new] = registry.operators.emplace(made->name(), nullptr);
  if (!is_new) {
    throw DispatchError(format_text(
        "define: there is an operator %s already: %s. Add kernels by extend(\"%s\"), or "
        "give an overload: %s.yours(...).",
        made->name().c_str(), to_string(place->second->schema()).c_str(), made->name().c_str(),
        made->schema().name.c_str()));
  }
  place->second = std::move(made);
  return Definition(*place->second);
}

}  // namespace

const Kernel* Operator::kernel(Key key) const noexcept {
  return read(kernels_[static_cast<std::size_t>(key)]);
}
const Kernel* Operator::composite() const noexcept {
  return read(composite_);
}
const MetaRule* Operator::meta() const noexcept {
  return read(meta_);
}
const ViewRule* Operator::view() const noexcept {
  return read(view_);
}

KeySet Operator::registered_keys() const noexcept {
  const ReadLock lock(bare_registry().mutex);
  KeySet keys;
  for (std::size_t index = 0; index < key_count; ++index) {
    keys = kernels_[index] == nullptr ? keys : keys | static_cast<Key>(index);
  }
  return keys;
}

const Definition& Definition::kernel(Key key, Kernel kernel) const {
  const std::string what = std::string("a kernel for ") + name_of(key);
  set_once(op_.kernels_[static_cast<std::size_t>(key)], std::move(kernel), what.c_str(),
           op_.name().c_str());
  return *this;
}

const Definition& Definition::composite(Kernel kernel) const {
  set_once(op_.composite_, std::move(kernel), "a composite kernel", op_.name().c_str());
  return *this;
}

const Definition& Definition::meta(MetaRule rule) const {
  set_once(op_.meta_, std::move(rule), "a meta rule", op_.name().c_str());
  return *this;
}

const Definition& Definition::view(ViewRule rule) const {
  if (op_.schema().effect() != Effect::view) {
    throw DispatchError(format_text(
        "%s is no view: its schema is %s. A view's first parameter and its result have one alias "
        "set that is not written.",
        op_.name().c_str(), to_string(op_.schema()).c_str()));
  }
  set_once(op_.view_, std::move(rule), "a view rule", op_.name().c_str());
  return *this;
}

Definition define(Schema schema) {
  return define_in(registry(), std::move(schema));
}

Definition define(std::string_view schema) {
  return define(parse_schema(schema));
}

Definition detail::define_builtin(std::string_view schema) {
  return define_in(bare_registry(), parse_schema(schema));
}

const Operator& define_or_find(Schema schema, Key key, Kernel kernel) {
  Registry& all = registry();
  auto made = std::make_unique<Operator>(std::move(schema));
  made->kernels_[static_cast<std::size_t>(key)] = std::make_unique<const Kernel>(std::move(kernel));
  const WriteLock lock(all.mutex);
  auto& place = all.operators[made->name()];
  if (place == nullptr) {
    place = std::move(made);
  } else if (to_string(place->schema()) != to_string(made->schema())) {
    throw DispatchError(format_text(
        "there is an operator %s, where %s is to be derived. Give the operator another name.",
        to_string(place->schema()).c_str(), to_string(made->schema()).c_str()));
  }
  return *place;
}

const Operator& detail::builtin(std::string_view name) {
  const auto found = bare_registry().operators.find(name);
  BYRE_ASSERT(found != bare_registry().operators.end(),
              "a builtin operator is used before its definition");
  return *found->second;
}

Definition detail::extend_builtin(std::string_view name) {
  return Definition(const_cast<Operator&>(builtin(name)));
}

Definition extend(std::string_view name) {
  return Definition(const_cast<Operator&>(find(name)));
}

const Operator* find_if_any(std::string_view name) {
  const ReadLock lock(registry().mutex);
  const auto& all = bare_registry().operators;
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second.get();
}

const Operator& find(std::string_view name) {
  if (const Operator* const found = find_if_any(name)) {
    return *found;
  }
  const ReadLock lock(bare_registry().mutex);
  const std::string near = names_near(bare_registry(), name);
  throw DispatchError(format_text(
      "there is no operator '%.*s' among the %zu that are registered%s%s. define() registers one.",
      static_cast<int>(name.size()), name.data(), bare_registry().operators.size(),
      near.empty() ? "" : "; near are: ", near.c_str()));
}

std::vector<const Operator*> operators() {
  const ReadLock lock(registry().mutex);
  std::vector<const Operator*> all;
  for (const auto& [name, op] : bare_registry().operators) {
    all.push_back(op.get());
  }
  return all;
}

void set_fallback(Key key, Kernel fallback) {
  registry();
  detail::set_builtin_fallback(key, std::move(fallback));
}

void detail::set_builtin_fallback(Key key, Kernel fallback) {
  set_once(bare_registry().fallbacks[static_cast<std::size_t>(key)], std::move(fallback),
           "a fallback", name_of(key));
}

const Kernel* fallback(Key key) noexcept {
  return read(bare_registry().fallbacks[static_cast<std::size_t>(key)]);
}

}  // namespace byre::inline v0::functional
