// SPDX-License-Identifier: BSL-1.0
/// What tensors are, without strides and without copy-on-write: a storage is an array, a tensor says
/// of each of its elements which place of the array it is. Random programs are compared with it.
#pragma once

#include <byre/tensor/dims.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace byre::test {

struct FlatTensor {
  std::shared_ptr<std::vector<std::int32_t>> storage;
  Dims sizes;
  std::vector<std::size_t> places;  ///< of the elements, in row-major order

  static FlatTensor contiguous(const Dims& sizes, std::vector<std::int32_t> values) {
    FlatTensor tensor{nullptr, sizes, std::vector<std::size_t>(values.size())};
    std::iota(tensor.places.begin(), tensor.places.end(), std::size_t{0});
    tensor.storage = std::make_shared<std::vector<std::int32_t>>(std::move(values));
    return tensor;
  }

  std::int32_t& operator[](std::size_t element) const { return (*storage)[places[element]]; }

  std::vector<std::int32_t> values() const {
    std::vector<std::int32_t> all;
    for (const std::size_t place : places) {
      all.push_back((*storage)[place]);
    }
    return all;
  }

  /// Whether the elements lie one after the other. There have to be some.
  bool is_dense() const {
    for (std::size_t element = 1; element < places.size(); ++element) {
      if (places[element] != places[0] + element) {
        return false;
      }
    }
    return true;
  }

  /// The same elements in the same order.
  FlatTensor with_sizes(const Dims& other) const { return {storage, other, places}; }
  std::size_t distinct_places() const {
    return std::set<std::size_t>(places.begin(), places.end()).size();
  }

  /// Element (i, j, ...) is this tensor's element `source_of({i, j, ...})`.
  template <class SourceOf>
  FlatTensor picked(const Dims& other, SourceOf source_of) const {
    FlatTensor result{storage, other, {}};
    Dims at(other.size(), 0);
    std::size_t count = 1;
    for (const std::int64_t size : other) {
      count *= static_cast<std::size_t>(size);
    }
    for (; count > 0; --count) {
      result.places.push_back(places[number_of(source_of(at))]);
      for (std::size_t axis = at.size(); axis-- > 0;) {
        if (++at[axis] < other[axis]) {
          break;
        }
        at[axis] = 0;
      }
    }
    return result;
  }

  /// Whether an offset and strides can say where the elements would be under other sizes.
  bool is_view_under(const Dims& other) const {
    if (places.empty()) {
      return true;
    }
    const FlatTensor seen = with_sizes(other);
    Dims strides;
    for (std::size_t axis = 0; axis < other.size(); ++axis) {
      Dims next(other.size(), 0);
      next[axis] = other[axis] > 1 ? 1 : 0;
      strides.push_back(static_cast<std::int64_t>(places[seen.number_of(next)]) -
                        static_cast<std::int64_t>(places[0]));
    }
    bool fits = true;
    std::size_t number = 0;
    seen.picked(other, [&](const Dims& at) {
      const std::int64_t place = std::inner_product(at.begin(), at.end(), strides.begin(),
                                                    static_cast<std::int64_t>(places[0]));
      fits = fits && static_cast<std::size_t>(place) == places[number++];
      return at;
    });
    return fits;
  }

 private:
  std::size_t number_of(const Dims& at) const {
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      number = number * sizes[axis] + at[axis];
    }
    return static_cast<std::size_t>(number);
  }
};

}  // namespace byre::test
