#include "counters.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>

namespace {

thread_local spindrift::perf::Counts counts;

void* allocate(std::size_t size, std::size_t alignment) {
  ++counts.allocations;
  // aligned_alloc wants a multiple of the alignment.
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  return alignment <= alignof(std::max_align_t) ? std::malloc(size == 0 ? 1 : size)
                                                : std::aligned_alloc(alignment, rounded);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

template <typename Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// --- the replacements ---------------------------------------------------------------

void* operator new(std::size_t size) {
  return allocate_or_throw(size, 1);
}
void* operator new[](std::size_t size) {
  return allocate_or_throw(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 1);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

extern "C" {
__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static auto* const lock = original<int(pthread_mutex_t*)>("pthread_mutex_lock");
  ++counts.locks;
  return lock(mutex);
}
__attribute__((visibility("default"))) int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static auto* const lock = original<int(pthread_mutex_t*)>("pthread_mutex_trylock");
  ++counts.locks;
  return lock(mutex);
}
__attribute__((visibility("default"))) int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static auto* const take = original<int(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  ++counts.locks;
  return take(lock);
}
__attribute__((visibility("default"))) int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static auto* const take = original<int(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  ++counts.locks;
  return take(lock);
}
}

namespace spindrift::perf {

Counts counts_so_far() {
  return counts;
}

bool counting_works() {
  const Counts before = counts;
  std::mutex mutex;
  std::shared_mutex shared;
  // Calls the operator by name, since a new expression may be optimised away; and
  // hides that it ends in free(), of which gcc warns.
  void* volatile memory = ::operator new(1);
  ::operator delete(memory);
  mutex.lock();
  mutex.unlock();
  shared.lock();
  shared.unlock();
  return counts.allocations == before.allocations + 1 && counts.locks == before.locks + 2;
}

}  // namespace spindrift::perf
