// Tells TSan about the order that absl::Mutex and its kin make between threads.
//
// Debian's libabsl_synchronization.a is not built for TSan, which therefore takes what a mutex guards
// for unguarded. The linker leads every call of its public functions here (--wrap, see BUILD); each
// wrapper calls the real function and names the happens-before edge that it makes: whoever unlocks
// releases an address, whoever locks acquires it.
//
// While a real function runs, reads of this thread are ignored, because it calls the conditions of
// Await() and LockWhen() of this and of other threads, in places where it holds the lock but no
// wrapper has said so.

#include <cstddef>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

extern "C" {
// Of TSan's runtime. The header that declares them declares no AnnotateIgnoreReads*.
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}

namespace {

class IgnoreReads {
 public:
  IgnoreReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~IgnoreReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
  IgnoreReads(const IgnoreReads&) = delete;
  IgnoreReads& operator=(const IgnoreReads&) = delete;
};

// Two addresses in a mutex: a writer comes after readers and writers, a reader after writers only.
static_assert(sizeof(absl::Mutex) == 8);

char* ByWriters(const void* mutex) { return const_cast<char*>(static_cast<const char*>(mutex)); }
char* ByReaders(const void* mutex) { return ByWriters(mutex) + 4; }

void Locked(const void* mutex) {
  __tsan_acquire(ByWriters(mutex));
  __tsan_acquire(ByReaders(mutex));
}
void Unlocking(const void* mutex) { __tsan_release(ByWriters(mutex)); }
void ReaderLocked(const void* mutex) { __tsan_acquire(ByWriters(mutex)); }
void ReaderUnlocking(const void* mutex) { __tsan_release(ByReaders(mutex)); }

// The flag of a Notification, which HasBeenNotified() reads inline as an atomic. TSan gives atomics
// and releases of one address the same clock.
static_assert(sizeof(absl::Notification) == 16);
char* Flag(const void* notification) { return ByWriters(notification) + sizeof(absl::Mutex); }

// Runs the real function without its reads.
template <typename Function, typename... Arguments>
auto Real(Function function, Arguments... arguments) {
  const IgnoreReads ignore_reads;
  return function(arguments...);
}

}  // namespace

// Declares the real function and begins its wrapper.
#define WRAP(result, symbol, parameters)        \
  extern "C" result __real_##symbol parameters; \
  extern "C" result __wrap_##symbol parameters

// For functions that may let go of the mutex, and hold it when they return.
#define WRAP_WAIT(result, symbol, parameters, arguments) \
  WRAP(result, symbol, parameters) {                     \
    Unlocking(mutex);                                    \
    const IgnoreReads ignore_reads;                      \
    const LockedAtEnd locked(mutex);                     \
    return __real_##symbol arguments;                    \
  }

// For functions that return with the mutex held, by a writer or by a reader.
#define WRAP_LOCK(result, symbol, parameters, arguments) \
  WRAP(result, symbol, parameters) {                     \
    const IgnoreReads ignore_reads;                      \
    const LockedAtEnd locked(mutex);                     \
    return __real_##symbol arguments;                    \
  }
#define WRAP_READER_LOCK(result, symbol, parameters, arguments) \
  WRAP(result, symbol, parameters) {                            \
    const IgnoreReads ignore_reads;                             \
    const ReaderLockedAtEnd locked(mutex);                      \
    return __real_##symbol arguments;                           \
  }

namespace {

struct LockedAtEnd {
  explicit LockedAtEnd(const void* mutex) : mutex(mutex) {}
  ~LockedAtEnd() { Locked(mutex); }
  const void* mutex;
};

struct ReaderLockedAtEnd {
  explicit ReaderLockedAtEnd(const void* mutex) : mutex(mutex) {}
  ~ReaderLockedAtEnd() { ReaderLocked(mutex); }
  const void* mutex;
};

}  // namespace

using Condition = const absl::Condition*;
using Mutex = const void*;

WRAP_LOCK(void, _ZN4absl7debian35Mutex4LockEv, (Mutex mutex), (mutex))
WRAP_LOCK(void, _ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE, (Mutex mutex, Condition when),
          (mutex, when))
WRAP_LOCK(bool, _ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE,
          (Mutex mutex, Condition when, absl::Duration timeout), (mutex, when, timeout))
WRAP_LOCK(bool, _ZN4absl7debian35Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE,
          (Mutex mutex, Condition when, absl::Time deadline), (mutex, when, deadline))

WRAP_READER_LOCK(void, _ZN4absl7debian35Mutex10ReaderLockEv, (Mutex mutex), (mutex))
WRAP_READER_LOCK(void, _ZN4absl7debian35Mutex14ReaderLockWhenERKNS0_9ConditionE,
                 (Mutex mutex, Condition when), (mutex, when))
WRAP_READER_LOCK(bool,
                 _ZN4absl7debian35Mutex25ReaderLockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE,
                 (Mutex mutex, Condition when, absl::Duration timeout), (mutex, when, timeout))
WRAP_READER_LOCK(bool,
                 _ZN4absl7debian35Mutex26ReaderLockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE,
                 (Mutex mutex, Condition when, absl::Time deadline), (mutex, when, deadline))

// A reader that waits is taken for a writer here: that may hide a race between readers, no more.
WRAP_WAIT(void, _ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE, (Mutex mutex, Condition until),
          (mutex, until))
WRAP_WAIT(bool, _ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE,
          (Mutex mutex, Condition until, absl::Duration timeout), (mutex, until, timeout))
WRAP_WAIT(bool, _ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE,
          (Mutex mutex, Condition until, absl::Time deadline), (mutex, until, deadline))
WRAP_WAIT(void, _ZN4absl7debian37CondVar4WaitEPNS0_5MutexE, (void* signal, Mutex mutex),
          (signal, mutex))
WRAP_WAIT(bool, _ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE,
          (void* signal, Mutex mutex, absl::Duration timeout), (signal, mutex, timeout))
WRAP_WAIT(bool, _ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE,
          (void* signal, Mutex mutex, absl::Time deadline), (signal, mutex, deadline))

WRAP(bool, _ZN4absl7debian35Mutex7TryLockEv, (Mutex mutex)) {
  const bool locked = Real(__real__ZN4absl7debian35Mutex7TryLockEv, mutex);
  if (locked) Locked(mutex);
  return locked;
}

WRAP(bool, _ZN4absl7debian35Mutex13ReaderTryLockEv, (Mutex mutex)) {
  const bool locked = Real(__real__ZN4absl7debian35Mutex13ReaderTryLockEv, mutex);
  if (locked) ReaderLocked(mutex);
  return locked;
}

WRAP(void, _ZN4absl7debian35Mutex6UnlockEv, (Mutex mutex)) {
  Unlocking(mutex);
  Real(__real__ZN4absl7debian35Mutex6UnlockEv, mutex);
}

WRAP(void, _ZN4absl7debian35Mutex12ReaderUnlockEv, (Mutex mutex)) {
  ReaderUnlocking(mutex);
  Real(__real__ZN4absl7debian35Mutex12ReaderUnlockEv, mutex);
}

// Its only member is the mutex, null once released.
WRAP(void, _ZN4absl7debian319ReleasableMutexLock7ReleaseEv, (Mutex * lock)) {
  Unlocking(*lock);
  Real(__real__ZN4absl7debian319ReleasableMutexLock7ReleaseEv, lock);
}

WRAP(void, _ZN4absl7debian312Notification6NotifyEv, (void* notification)) {
  __tsan_release(Flag(notification));
  Real(__real__ZN4absl7debian312Notification6NotifyEv, notification);
}

WRAP(void, _ZNK4absl7debian312Notification19WaitForNotificationEv, (const void* notification)) {
  Real(__real__ZNK4absl7debian312Notification19WaitForNotificationEv, notification);
  __tsan_acquire(Flag(notification));
}

WRAP(bool, _ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE,
     (const void* notification, absl::Duration timeout)) {
  const bool notified =
      Real(__real__ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE,
           notification, timeout);
  if (notified) __tsan_acquire(Flag(notification));
  return notified;
}

WRAP(bool, _ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE,
     (const void* notification, absl::Time deadline)) {
  const bool notified =
      Real(__real__ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE,
           notification, deadline);
  if (notified) __tsan_acquire(Flag(notification));
  return notified;
}

WRAP(bool, _ZN4absl7debian315BlockingCounter14DecrementCountEv, (void* counter)) {
  __tsan_release(counter);
  return Real(__real__ZN4absl7debian315BlockingCounter14DecrementCountEv, counter);
}

WRAP(void, _ZN4absl7debian315BlockingCounter4WaitEv, (void* counter)) {
  Real(__real__ZN4absl7debian315BlockingCounter4WaitEv, counter);
  __tsan_acquire(counter);
}

WRAP(bool, _ZN4absl7debian37Barrier5BlockEv, (void* barrier)) {
  __tsan_release(barrier);
  const bool last = Real(__real__ZN4absl7debian37Barrier5BlockEv, barrier);
  __tsan_acquire(barrier);
  return last;
}
