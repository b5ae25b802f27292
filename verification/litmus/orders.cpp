// SPDX-License-Identifier: BSL-1.0
/// Litmus tests of memory orders on one and on two atomic variables.
#include "litmus.hpp"

namespace byre::verification {
namespace litmus {
namespace {

/// Tests whose outcome is one number, or two bits.
struct OneResult : TwoThreads {
  std::size_t outcome() const { return result; }
  std::uint32_t result = 0;
};
struct TwoResults : TwoThreads {
  std::size_t outcome() const { return results[0] * 2 + results[1]; }
  Number numbers[2]{Number(0), Number(0)};
  std::uint32_t results[2]{};
};

template <std::memory_order Store, std::memory_order Load, Fate BothOld>
struct StoreBuffering : TwoResults {
  static constexpr Outcome outcomes[] = {{"both read old values", BothOld},
                                         {"only the first reads an old value", Fate::seen},
                                         {"only the second reads an old value", Fate::seen},
                                         {"both read new values", Fate::seen}};

  void thread(unsigned index) {
    numbers[index].store(1, at(Store));
    results[index] = numbers[1 - index].load(at(Load));
  }
};

template <std::memory_order Store, std::memory_order Load, Fate Old>
struct MessagePassing : OneResult {
  static constexpr Outcome outcomes[] = {{"no message yet", Fate::seen},
                                         {"the message, and the old data", Old},
                                         {"the message, and the new data", Fate::seen}};

  void thread(unsigned index) {
    if (index == 0) {
      data.store(1, at(relaxed));
      message.store(1, at(Store));
    } else if (message.load(at(Load)) == 1) {
      result = 1 + data.load(at(relaxed));
    }
  }
  Number data{0};
  Number message{0};
};

/// Message passing with plain data.
template <std::memory_order Store, std::memory_order Load>
struct PlainMessagePassing : TwoThreads {
  void thread(unsigned index) {
    if (index == 0) {
      data.set(1);
      message.store(1, at(Store));
    } else if (message.load(at(Load)) == 1) {
      expect(data.get() == 1, "a reader of the message reads the new data");
    }
  }

  Cell data{0};
  Number message{0};
};

struct LoadBuffering : TwoResults {
  static constexpr Outcome outcomes[] = {{"both read old values", Fate::seen},
                                         {"only the second reads a new value", Fate::seen},
                                         {"only the first reads a new value", Fate::seen},
                                         {"both read new values", Fate::blind}};

  void thread(unsigned index) {
    results[index] = numbers[index].load(at(relaxed));
    numbers[1 - index].store(1, at(relaxed));
  }
};

/// Two threads write, and two threads read both variables in opposite orders.
template <std::memory_order Store, std::memory_order Load, Fate Disagree>
struct IndependentReads {
  static constexpr unsigned threads = 4;
  static constexpr Outcome outcomes[] = {{"the readers may agree on an order", Fate::seen},
                                         {"the readers disagree", Disagree}};

  void thread(unsigned index) {
    if (index < 2) {
      numbers[index].store(1, at(Store));
    } else {
      auto& result = results[index - 2];
      result[0] = numbers[index - 2].load(at(Load));
      result[1] = numbers[3 - index].load(at(Load));
    }
  }
  std::size_t outcome() const {
    const auto own_first = [](const std::uint32_t* result) {
      return result[0] == 1 && result[1] == 0;
    };
    return own_first(results[0]) && own_first(results[1]) ? 1 : 0;
  }

  Number numbers[2]{Number(0), Number(0)};
  std::uint32_t results[2][2]{};
};

struct Coherence : TwoThreads {
  static constexpr Outcome outcomes[] = {{"one value is read twice", Fate::seen},
                                         {"a later value is read later", Fate::seen},
                                         {"an earlier value is read later", Fate::forbidden}};

  void thread(unsigned index) {
    if (index == 0) {
      number.store(1, at(relaxed));
      number.store(2, at(relaxed));
    } else {
      results[0] = number.load(at(relaxed));
      results[1] = number.load(at(relaxed));
    }
  }
  std::size_t outcome() const {
    return results[0] == results[1] ? 0 : results[0] < results[1] ? 1 : 2;
  }

  Number number{0};
  std::uint32_t results[2]{};
};

/// Tests how old the value is that a load may return.
struct Staleness : OneResult {
  static constexpr Outcome outcomes[] = {{"no message yet", Fate::seen},
                                         {"the newest value", Fate::seen},
                                         {"a value one store old", Fate::seen},
                                         {"a value two stores old", Fate::blind},
                                         {"a value three stores old", Fate::blind}};

  void thread(unsigned index) {
    if (index == 0) {
      for (std::uint32_t value = 1; value <= 3; ++value) {
        number.store(value, at(relaxed));
      }
      message.store(1, at(relaxed));
    } else if (message.load(at(relaxed)) == 1) {
      result = 4 - number.load(at(relaxed));
    }
  }
  Number number{0};
  Number message{0};
};

/// Each addition reads the value that the previous one in the modification order stored.
struct ReadModifyWrite : TwoThreads {
  static constexpr Outcome outcomes[] = {{"both additions count", Fate::seen},
                                         {"one addition is lost", Fate::forbidden}};

  void thread(unsigned) { number.fetch_add(1, at(relaxed)); }
  std::size_t outcome() { return number.load(at(relaxed)) == 2 ? 0 : 1; }

  Number number{0};
};

/// Each exchange returns the value that the previous one in the modification order stored.
struct Exchange : TwoThreads {
  static constexpr Outcome outcomes[] = {
      {"one exchange returns the value of the other", Fate::seen},
      {"both return the first value", Fate::forbidden},
      {"each returns the value of the other", Fate::forbidden}};

  void thread(unsigned index) { results[index] = number.exchange(1 + index, at(relaxed)); }
  std::size_t outcome() const {
    return results[0] == 0 && results[1] == 0 ? 1 : results[0] != 0 && results[1] != 0 ? 2 : 0;
  }

  Number number{0};
  std::uint32_t results[2]{};
};

/// One thread adds to two variables. A thread that reads the second sum may add to the first
/// variable earlier in its modification order.
template <std::memory_order Order, Fate Late>
struct TwoSums : OneResult {
  static constexpr Outcome outcomes[] = {{"no second sum yet", Fate::seen},
                                         {"the second sum, and the first variable is 0", Late},
                                         {"the second sum and the first", Fate::seen}};

  void thread(unsigned index) {
    if (index == 0) {
      numbers[0].fetch_add(1, at(relaxed));
      numbers[1].fetch_add(1, at(Order));
    } else if (numbers[1].exchange(0, at(Order)) == 1) {
      result = 1 + numbers[0].fetch_add(1, at(relaxed));
    }
  }
  Number numbers[2]{Number(0), Number(0)};
};

struct SpuriousFailure : TwoThreads {
  static constexpr Outcome outcomes[] = {
      {"a weak compare-exchange succeeds", Fate::seen},
      {"it fails although the value is as expected", Fate::seen}};

  void thread(unsigned index) {
    if (index == 0) {
      std::uint32_t expected = 0;
      failed = !number.compare_exchange_weak(expected, 1, at(relaxed));
    }
  }
  std::size_t outcome() const { return failed ? 1 : 0; }

  Number number{0};
  bool failed = false;
};

/// A failed compare-exchange is a load, so it may return an old value.
struct StaleFailure : OneResult {
  static constexpr Outcome outcomes[] = {
      {"no message yet", Fate::seen},
      {"the message, and the failure returns the old value", Fate::blind},
      {"the message, and the failure returns the new value", Fate::seen}};

  void thread(unsigned index) {
    if (index == 0) {
      number.store(1, at(relaxed));
      message.store(1, at(relaxed));
    } else if (message.load(at(relaxed)) == 1) {
      std::uint32_t expected = 9;
      expect(!number.compare_exchange_weak(expected, 10, at(relaxed)),
             "the exchange fails, since no thread stores 9");
      result = 1 + expected;
    }
  }
  Number number{0};
  Number message{0};
};

const Scenario* const orders_tests[] = {
    litmus_test<StoreBuffering<relaxed, relaxed, Fate::seen>>(
        "litmus.store_buffering_relaxed",
        "With relaxed orders each thread may miss the other's store."),
    litmus_test<StoreBuffering<release, acquire, Fate::seen>>(
        "litmus.store_buffering_acq_rel",
        "With release and acquire each thread may miss the other's store: these orders do not "
        "order "
        "a store before a later load."),
    litmus_test<StoreBuffering<seq_cst, seq_cst, Fate::forbidden>>(
        "litmus.store_buffering_seq_cst",
        "With seq_cst at least one thread reads the other's store."),
    litmus_test<MessagePassing<relaxed, relaxed, Fate::seen>>(
        "litmus.message_passing_relaxed", "A relaxed message may arrive before its data."),
    litmus_test<MessagePassing<release, relaxed, Fate::seen>>(
        "litmus.message_passing_release", "A release without an acquire orders nothing."),
    litmus_test<MessagePassing<relaxed, acquire, Fate::seen>>(
        "litmus.message_passing_acquire", "An acquire without a release orders nothing."),
    litmus_test<MessagePassing<release, acquire, Fate::forbidden>>(
        "litmus.message_passing_acq_rel", "Release and acquire order the data before the message."),
    litmus_test<PlainMessagePassing<relaxed, relaxed>>(
        "litmus.plain_message_relaxed",
        "Accesses to plain data that only a relaxed message orders are a race.",
        Verdict::data_race),
    litmus_test<PlainMessagePassing<release, acquire>>(
        "litmus.plain_message_acq_rel",
        "Accesses to plain data that a release and an acquire order are no race."),
    litmus_test<LoadBuffering>("litmus.blind.load_buffering",
                               "Blind spot: no load returns the value of a later store. In core "
                               "each relaxed load is followed by a compare-exchange or another "
                               "load of the same word, so load buffering cannot mislead it."),
    litmus_test<IndependentReads<release, acquire, Fate::seen>>(
        "litmus.independent_reads_acq_rel",
        "With release and acquire readers of two variables may disagree on the order of the "
        "stores."),
    litmus_test<IndependentReads<seq_cst, seq_cst, Fate::forbidden>>(
        "litmus.independent_reads_seq_cst",
        "With seq_cst readers of two variables agree on the order of the stores."),
    litmus_test<Coherence>("litmus.coherence",
                           "No thread reads an older value of one variable after a newer one."),
    litmus_test<Staleness>(
        "litmus.blind.staleness",
        "Blind spot: a load returns the newest value or the one before it. No step of core depends "
        "on how old a value is: a load that returns one owner is never old (I7), and any other "
        "value "
        "leads to a compare-exchange or another load."),
    litmus_test<ReadModifyWrite>("litmus.read_modify_write", "Two relaxed additions both count."),
    litmus_test<Exchange>("litmus.exchange",
                          "Exactly one of two exchanges returns the other's value."),
    litmus_test<TwoSums<relaxed, Fate::blind>>(
        "litmus.blind.two_sums",
        "Blind spot: a read-modify-write is later in the modification order than all that ran "
        "before. The scenarios of refills watch the order of two additions by a plain variable."),
    litmus_test<TwoSums<acq_rel, Fate::forbidden>>(
        "litmus.two_sums_acq_rel", "Release and acquire order additions to another variable."),
    litmus_test<SpuriousFailure>("litmus.spurious_failure",
                                 "A weak compare-exchange may fail spuriously."),
    litmus_test<StaleFailure>(
        "litmus.blind.stale_failure",
        "Blind spot: a failed compare-exchange always returns the newest value. The word loads "
        "again after a failure. The textbook form compares once more, or loads under the lock."),
};

}  // namespace
}  // namespace litmus
}  // namespace byre::verification
