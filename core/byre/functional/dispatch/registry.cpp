// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/detail/functional_variant.hpp>
#include <byre/functional/dispatch/registry.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>

namespace byre::inline v0::functional {

/// Operators in lists by the hash of their names, and fallbacks. All of it only grows: whoever
/// looks takes no lock, and may use what was found for as long as the program runs.
using sync::detail::Published;

class detail::Registry {
 public:
  Operator* find(std::string_view name) const noexcept {
    Operator* op = lists_[list_of(name)].get();
    while (op != nullptr && op->name() != name) {
      op = op->next_;
    }
    return op;
  }
  /// By name.
  std::vector<const Operator*> all() const;
  const Kernel* fallback(Key key) const noexcept {
    return fallbacks_[static_cast<std::size_t>(key)].get();
  }

  /// Throws DispatchError if there is one of its name.
  Operator& add(Schema schema);
  /// The functional variant of `op`: of that schema, with its kernel, or the one there is.
  const Operator& add_generated(const Operator& op, Schema schema, Kernel kernel);
  template <class Part>
  void set_once(Operator& op, Published<const Part>& place, Part part, const char* what);
  void set_fallback(Key key, Kernel fallback);
  /// As it was at first. For as long as nobody has found anything in it.
  void clear() noexcept;

 private:
  static constexpr std::size_t list_count = 256;
  static std::size_t list_of(std::string_view name) noexcept {
    return std::hash<std::string_view>()(name) % list_count;
  }

  Operator& push(std::unique_ptr<Operator> op, const std::optional<std::string>& variant_name);

  sync::ProcessMutex mutex_;  // of who registers
  std::array<Published<Operator>, list_count> lists_;
  std::array<Published<const Kernel>, key_count> fallbacks_;
};

namespace {

/// The registry with the operators that come along, or null.
constinit Published<detail::Registry> whole_registry;
constinit bool is_filling_registry = false;  // guarded by FirstUse

/// Defines all of the operators that come along, or none: without memory the next use tries again.
/// While they are defined, the thread that defines them is given the registry as it is.
[[gnu::cold, gnu::noinline]] detail::Registry& fill_registry() try {
  const sync::detail::FirstUse lock;
  auto& made = sync::no_destructor<detail::Registry>();
  if (whole_registry.get() == nullptr && !std::exchange(is_filling_registry, true)) {
    try {
      detail::define_builtin_operators();
      whole_registry.set(&made);
    } catch (...) {
      made.clear();
      is_filling_registry = false;
      throw;
    }
  }
  return made;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the definition of the operators that come along");
}

detail::Registry& registry() {
  detail::Registry* const found = whole_registry.get();
  return found != nullptr ? *found : fill_registry();
}

bool is_computed(const Operator& op) noexcept {
  return op.composite() != nullptr || op.view() != nullptr || !op.registered_keys().empty();
}

void expect_first(bool is_first, const char* of, const char* what) {
  if (!is_first) {
    throw DispatchError(format_text("%s has %s already: each is registered once.", of, what));
  }
}

template <class Part>
void expect_function(const Part& part, const char* of, const char* what) {
  if constexpr (requires { part == nullptr; }) {
    if (part == nullptr) {
      throw DispatchError(format_text(
          "%s: %s was given that has no function, as an empty std::function. Give one that has.",
          of, what));
    }
  }
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
std::string names_near(const std::vector<const Operator*>& all, std::string_view name) {
  const std::string_view stem = name.substr(0, name.find('.'));
  std::string text;
  for (const Operator* const op : all) {
    if (op->schema().name == stem || edit_distance(op->name(), name) <= name.size() / 3) {
      text += (text.empty() ? "" : ", ") + op->name();
    }
  }
  return text;
}

}  // namespace

std::vector<const Operator*> detail::Registry::all() const try {
  std::vector<const Operator*> all;
  for (const Published<Operator>& list : lists_) {
    for (const Operator* op = list.get(); op != nullptr; op = op->next_) {
      all.push_back(op);
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Operator* a, const Operator* b) { return a->name() < b->name(); });
  return all;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("operators");
}

Operator& detail::Registry::push(std::unique_ptr<Operator> op,
                                 const std::optional<std::string>& variant_name) {
  const Operator* const variant = variant_name ? find(*variant_name) : nullptr;
  if (variant != nullptr && is_computed(*variant) && is_variant_of(*variant, *op)) {
    op->variant_.set(variant);
  }
  Published<Operator>& list = lists_[list_of(op->name())];
  op->next_ = list.get();
  list.set(op.get());
  return *op.release();
}

Operator& detail::Registry::add(Schema schema) {
  auto made = std::make_unique<Operator>(std::move(schema));
  const auto variant_name = name_of_variant(made->schema());
  const Operator* other = nullptr;
  {
    const sync::ProcessLock lock(mutex_);
    other = find(made->name());
    if (other == nullptr) {
      return push(std::move(made), variant_name);
    }
  }
  throw DispatchError(
      format_text("define: there is an operator %s already: %s. Add kernels by extend(\"%s\"), or "
                  "give an overload: %s.yours(...).",
                  other->name().c_str(), to_string(other->schema()).c_str(), other->name().c_str(),
                  other->schema().name.c_str()));
}

const Operator& detail::Registry::add_generated(const Operator& op, Schema schema,
                                                Kernel kernel) try {
  auto made = std::make_unique<Operator>(std::move(schema));
  made->kernels_[static_cast<std::size_t>(Key::cpu)].set(new const Kernel(std::move(kernel)));
  const auto variant_name = name_of_variant(made->schema());
  const Operator* generated = nullptr;
  {
    const sync::ProcessLock lock(mutex_);
    generated = find(made->name());
    if (generated == nullptr) {
      generated = &push(std::move(made), variant_name);
    }
  }
  if (made != nullptr && to_string(generated->schema()) != to_string(made->schema())) {
    throw DispatchError(format_text(
        "there is an operator %s, where %s is to be generated. Give the operator another name.",
        to_string(generated->schema()).c_str(), to_string(made->schema()).c_str()));
  }
  const sync::ProcessLock lock(mutex_);
  find(op.name())->generated_.set(generated);
  return *generated;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap(op.name().c_str());
}

template <class Part>
void detail::Registry::set_once(Operator& op, Published<const Part>& place, Part part,
                                const char* what) try {
  expect_function(part, op.name().c_str(), what);
  auto made = std::make_unique<const Part>(std::move(part));
  const std::vector<std::string> names = names_of_writing_variants(op.schema());
  const sync::ProcessLock lock(mutex_);
  expect_first(place.get() == nullptr, op.name().c_str(), what);
  place.set(made.release());
  for (const std::string& name : names) {
    if (Operator* const writer = find(name); writer != nullptr && is_variant_of(op, *writer)) {
      // Not before it can be computed: until then a writer has the variant that is generated.
      writer->variant_.set(is_computed(op) ? &op : nullptr);
    }
  }
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap(op.name().c_str());
}

void detail::Registry::set_fallback(Key key, Kernel fallback) try {
  expect_function(fallback, name_of(key), "a fallback");
  auto made = std::make_unique<const Kernel>(std::move(fallback));
  Published<const Kernel>& place = fallbacks_[static_cast<std::size_t>(key)];
  const sync::ProcessLock lock(mutex_);
  expect_first(place.get() == nullptr, name_of(key), "a fallback");
  place.set(made.release());
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("set_fallback");
}

void detail::Registry::clear() noexcept {
  for (Published<Operator>& list : lists_) {
    for (Operator* op = list.get(); op != nullptr;) {
      delete std::exchange(op, op->next_);
    }
    list.set(nullptr);
  }
  for (Published<const Kernel>& fallback : fallbacks_) {
    delete fallback.get();
    fallback.set(nullptr);
  }
}

Operator::Operator(Schema schema) try
    : schema_(std::move(schema)),
      name_(schema_.full_name()),
      effect_(schema_.effect()),
      written_(detail::written_parameters(schema_)) {
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("an operator");
}

Operator::~Operator() {
  for (const Published<const Kernel>& kernel : kernels_) {
    delete kernel.get();
  }
  delete composite_.get();
  delete meta_.get();
  delete view_.get();
  delete tag_.get();
}

KeySet Operator::registered_keys() const noexcept {
  KeySet keys;
  for (std::size_t index = 0; index < key_count; ++index) {
    keys = kernels_[index].get() == nullptr ? keys : keys | static_cast<Key>(index);
  }
  return keys;
}

const Definition& Definition::kernel(Key key, Kernel kernel) const {
  const Text what = format_text("a kernel for %s", name_of(key));
  registry().set_once(op_, op_.kernels_[static_cast<std::size_t>(key)], std::move(kernel),
                      what.chars.data());
  return *this;
}

const Definition& Definition::kernel(Key key, TypedKernel typed) const {
  detail::expect_fits(typed, op_, format_text("the kernel for %s", name_of(key)).chars.data());
  return kernel(key, std::move(typed.kernel));
}

const Definition& Definition::composite(Kernel kernel) const {
  registry().set_once(op_, op_.composite_, std::move(kernel), "a composite kernel");
  return *this;
}

const Definition& Definition::composite(TypedKernel typed) const {
  detail::expect_fits(typed, op_, "the composite kernel");
  return composite(std::move(typed.kernel));
}

const Definition& Definition::meta(MetaRule rule) const {
  registry().set_once(op_, op_.meta_, std::move(rule), "a meta rule");
  return *this;
}

const Definition& Definition::tag(Tag tag) const {
  const auto& returns = op_.schema().returns;
  if (op_.effect() != Effect::none || returns.size() != 1 || op_.schema().returns_list()) {
    throw DispatchError(
        format_text("%s: a tag is of a pure operator that returns one tensor: its schema is %s.",
                    op_.name().c_str(), to_string(op_.schema()).c_str()));
  }
  registry().set_once(op_, op_.tag_, tag, "a tag");
  return *this;
}

const Definition& Definition::view(ViewRule rule) const {
  if (op_.effect() != Effect::view) {
    throw DispatchError(format_text(
        "%s is no view: its schema is %s. A view's first parameter and its result have one alias "
        "set that is not written.",
        op_.name().c_str(), to_string(op_.schema()).c_str()));
  }
  registry().set_once(op_, op_.view_, std::move(rule), "a view rule");
  return *this;
}

Definition define(Schema schema) try {
  return Definition(registry().add(std::move(schema)));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("define");
}

Definition define(std::string_view schema) {
  return define(parse_schema(schema));
}

const Operator& detail::define_generated(const Operator& op, Schema schema, Kernel kernel) {
  return registry().add_generated(op, std::move(schema), std::move(kernel));
}

Definition extend(std::string_view name) {
  return Definition(const_cast<Operator&>(find(name)));
}

const Operator* find_if_any(std::string_view name) {
  return registry().find(name);
}

const Operator& find(std::string_view name) try {
  if (const Operator* const found = find_if_any(name)) {
    return *found;
  }
  const std::vector<const Operator*> all = operators();
  const std::string near = names_near(all, name);
  throw DispatchError(format_text(
      "there is no operator '%.*s' among the %zu that are registered%s%s. define() registers one.",
      static_cast<int>(name.size()), name.data(), all.size(),
      near.empty() ? "" : "; near are: ", near.c_str()));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("find");
}

std::vector<const Operator*> operators() {
  return registry().all();
}

void set_fallback(Key key, Kernel fallback) {
  registry().set_fallback(key, std::move(fallback));
}

const Kernel* fallback(Key key) {
  return registry().fallback(key);
}

}  // namespace byre::inline v0::functional
