// SPDX-License-Identifier: BSL-1.0
// More than 300 lines: registration and lookup both need the class Registry, which only this file
// defines.
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/detail/functional_variant.hpp>
#include <byre/functional/dispatch/registry.hpp>
#include <byre/sync/detail/mutex.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <string>

namespace byre::inline BYRE_ABI::functional {

using detail::Owned;
using sync::detail::Published;

namespace {

bool is_computed(const Operator& op) noexcept {
  return op.composite() != nullptr || op.view() != nullptr || !op.registered_keys().empty();
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

/// Returns similar names for errors: the overloads of `name`, and names within a small edit
/// distance.
std::string similar_names(const std::vector<const Operator*>& all, std::string_view name) {
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

/// Contains the fallbacks, and the operators in lists by the hash of their names. Nothing is ever
/// removed, so lookups take no lock and a result remains valid as long as the program runs.
class detail::Registry {
 public:
  /// Runs only if the built-in operators could not be defined. No caller holds an operator then.
  ~Registry() {
    for (const Published<Operator>& list : buckets_) {
      for (Operator* op = list.get(); op != nullptr;) {
        delete std::exchange(op, op->next_);
      }
    }
  }

  Operator* find(std::string_view name) const noexcept {
    Operator* op = buckets_[bucket_of(name)].get();
    while (op != nullptr && op->name() != name) {
      op = op->next_;
    }
    return op;
  }

  /// Sorted by name.
  std::vector<const Operator*> all() const try {
    std::vector<const Operator*> all;
    for (const Published<Operator>& list : buckets_) {
      for (const Operator* op = list.get(); op != nullptr; op = op->next_) {
        all.push_back(op);
      }
    }
    std::ranges::sort(all, {}, &Operator::name);
    return all;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory::of_heap("operators");
  }

  /// Throws DispatchError if the name is taken.
  Operator& add(Schema schema) {
    auto made = std::make_unique<Operator>(std::move(schema));
    const auto variant_name = name_of_variant(made->schema());
    const sync::ProcessLock lock(mutex_);
    if (const Operator* const known = find(made->name())) {
      throw DispatchError(
          format_text("define: the operator %s exists: %s. Add kernels with extend(\"%s\"), or "
                      "define an overload: %s.yours(...).",
                      known->name().c_str(), to_string(known->schema()).c_str(),
                      known->name().c_str(), known->schema().name.c_str()));
    }
    const Operator* const variant = variant_name ? find(*variant_name) : nullptr;
    if (variant != nullptr && is_computed(*variant) && is_variant_of(*variant, *made)) {
      made->variant_.set(variant);
    }
    Published<Operator>& list = buckets_[bucket_of(made->name())];
    made->next_ = list.get();
    list.set(made.get());
    return *made.release();
  }

  /// Adds the generated functional variant of `op`, or returns the existing one.
  const Operator& add_generated(const Operator& op, Schema schema, Kernel kernel) try {
    auto made = std::make_unique<Operator>(std::move(schema));
    made->kernels_[static_cast<std::size_t>(Key::cpu)].set(new const Kernel(std::move(kernel)));
    const sync::ProcessLock lock(mutex_);
    Owned<Operator>& place = find(op.name())->generated_;
    if (place.get() == nullptr) {
      place.set(made.release());
    }
    return *place.get();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory::of_heap(op.name().c_str());
  }

  /// Publishes a kernel or rule of an operator, or of the key whose name is `of`. Errors call the
  /// kernel or rule `what`.
  template <class Part>
  void set_once(Owned<Part>& place, Part part, const char* what, const Operator& op) {
    set_once(place, std::move(part), what, op.name().c_str(), &op);
  }
  template <class Part>
  void set_once(Owned<Part>& place, Part part, const char* what, const char* of,
                const Operator* op = nullptr) try {
    if constexpr (requires { part == nullptr; }) {
      if (part == nullptr) {
        throw DispatchError(
            format_text("%s: the %s is empty, like std::function(). Pass a callable.", of, what));
      }
    }
    auto made = std::make_unique<const Part>(std::move(part));
    std::vector<std::string> names;
    if (op != nullptr) {
      names = names_of_writing_variants(op->schema());
    }
    const sync::ProcessLock lock(mutex_);
    if (place.get() != nullptr) {
      throw DispatchError(format_text("%s already has a %s. Register each once.", of, what));
    }
    place.set(made.release());
    for (const std::string& name : names) {
      if (Operator* const writer = find(name); writer != nullptr && is_variant_of(*op, *writer)) {
        // The writing operator uses a generated variant until the registered variant can be
        // computed.
        writer->variant_.set(is_computed(*op) ? op : nullptr);
      }
    }
  } catch (const std::bad_alloc&) {
    throw OutOfMemory::of_heap(of);
  }

  std::array<Owned<Kernel>, key_count> fallbacks;

 private:
  static constexpr std::size_t bucket_count = 256;
  static std::size_t bucket_of(std::string_view name) noexcept {
    return std::hash<std::string_view>()(name) % bucket_count;
  }

  sync::ProcessMutex mutex_;  // held while an operator, kernel or rule is added
  std::array<Published<Operator>, bucket_count> buckets_;
};

namespace {

/// The registry with all built-in operators, or null.
constinit Published<detail::Registry> complete_registry;
/// The registry while the built-in operators are defined; guarded by FirstUse.
constinit detail::Registry* registry_being_filled = nullptr;

/// Defines all built-in operators or none: after OutOfMemory the next use tries again. The defining
/// thread uses the incomplete registry meanwhile.
[[gnu::cold, gnu::noinline]] detail::Registry& fill_registry() try {
  const sync::detail::FirstUse lock;
  if (registry_being_filled == nullptr) {
    auto made = std::make_unique<detail::Registry>();
    registry_being_filled = made.get();
    try {
      detail::define_builtin_operators();
    } catch (...) {
      registry_being_filled = nullptr;
      throw;
    }
    complete_registry.set(made.release());
  }
  return *registry_being_filled;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the built-in operators");
}

detail::Registry& registry() {
  detail::Registry* const found = complete_registry.get();
  return found != nullptr ? *found : fill_registry();
}

}  // namespace

Operator::Operator(Schema schema) try
    : schema_(std::move(schema)),
      name_(schema_.full_name()),
      effect_(schema_.effect()),
      written_(detail::written_parameters(schema_)) {
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("an operator");
}

KeySet Operator::registered_keys() const noexcept {
  KeySet keys;
  for (std::size_t index = 0; index < key_count; ++index) {
    keys = kernels_[index].get() == nullptr ? keys : keys | static_cast<Key>(index);
  }
  return keys;
}

const Definition& Definition::kernel(Key key, TypedKernel kernel) const {
  const Text what = format_text("kernel for %s", name_of(key));
  detail::expect_fits(kernel, op_, what.chars.data());
  registry().set_once(op_.kernels_[static_cast<std::size_t>(key)], std::move(kernel.kernel),
                      what.chars.data(), op_);
  return *this;
}

const Definition& Definition::composite(TypedKernel kernel) const {
  detail::expect_fits(kernel, op_, "composite kernel");
  registry().set_once(op_.composite_, std::move(kernel.kernel), "composite kernel", op_);
  return *this;
}

const Definition& Definition::meta(MetaRule rule) const {
  registry().set_once(op_.meta_, std::move(rule), "meta rule", op_);
  return *this;
}

const Definition& Definition::tag(Tag tag) const {
  const auto& returns = op_.schema().returns;
  if (op_.effect() != Effect::none || returns.size() != 1 || op_.schema().returns_list()) {
    throw DispatchError(format_text("%s: a tag requires a pure operator with one result, not %s.",
                                    op_.name().c_str(), to_string(op_.schema()).c_str()));
  }
  registry().set_once(op_.tag_, tag, "tag", op_);
  return *this;
}

const Definition& Definition::view(ViewRule rule) const {
  if (op_.effect() != Effect::view) {
    throw DispatchError(
        format_text("%s is not a view: its schema is %s. Give its first parameter and its result "
                    "one alias set, without '!'.",
                    op_.name().c_str(), to_string(op_.schema()).c_str()));
  }
  registry().set_once(op_.view_, std::move(rule), "view rule", op_);
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
  const std::string near = similar_names(all, name);
  throw DispatchError(
      format_text("unknown operator '%.*s', %zu are registered%s%s. Call define() to add it.",
                  static_cast<int>(name.size()), name.data(), all.size(),
                  near.empty() ? "" : "; similar: ", near.c_str()));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("find");
}

std::vector<const Operator*> operators() {
  return registry().all();
}

void set_fallback(Key key, Kernel fallback) {
  registry().set_once(registry().fallbacks[static_cast<std::size_t>(key)], std::move(fallback),
                      "fallback", name_of(key));
}

const Kernel* fallback(Key key) {
  return registry().fallbacks[static_cast<std::size_t>(key)].get();
}

}  // namespace byre::inline BYRE_ABI::functional
