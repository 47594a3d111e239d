// Loaded before a program (LD_PRELOAD), it makes Swift's tasks wait at random before they run, so that they meet in orders in which
// a quiet machine never runs them. `make shake` runs the tests with it.
//
// The hooks are those that the runtime offers to whoever brings an executor: stdlib/public/Concurrency and
// include/swift/Runtime/Concurrency.h of Swift's sources. Only Linux: elsewhere another library is the runtime's, or none may be loaded.

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SWIFT __attribute__((swiftcall))

typedef SWIFT void (*Enqueue)(void *job);
typedef SWIFT void (*Hook)(void *job, Enqueue original);

extern Hook swift_task_enqueueGlobal_hook;
extern Hook swift_task_enqueueMainExecutor_hook;
SWIFT void swift_task_enqueueGlobalWithDelay(unsigned long long nanoseconds, void *job);

/// How many of a thousand jobs wait for up to two milliseconds. Two more wait for up to sixty.
static unsigned permille = 100;

/// Xorshift, for each thread its own: what runs between two numbers is different in each run, a seed would repeat nothing.
static uint64_t number(void) {
    static _Thread_local uint64_t state;
    if (state == 0) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        state = ((uint64_t)now.tv_nsec * 2654435761u) ^ (uint64_t)(uintptr_t)&state ^ 0x9E3779B97F4A7C15u;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static SWIFT void shakeGlobal(void *job, Enqueue original) {
    uint64_t random = number();
    unsigned long long delay = random >> 20;
    if (random % 1000 < 2) {
        swift_task_enqueueGlobalWithDelay(delay % 60000000, job);
    } else if (random % 1000 < permille) {
        swift_task_enqueueGlobalWithDelay(delay % 2000000, job);
    } else {
        original(job);
    }
}

// What goes to the main thread keeps its order; its sender waits.
static SWIFT void shakeMain(void *job, Enqueue original) {
    uint64_t random = number();
    if (random % 1000 < permille / 2) usleep((random >> 20) % 500);
    original(job);
}

__attribute__((constructor)) static void install(void) {
    const char *told = getenv("RECOLLECT_SHAKE_PERMILLE");
    if (told) permille = (unsigned)atoi(told);
    swift_task_enqueueGlobal_hook = shakeGlobal;
    swift_task_enqueueMainExecutor_hook = shakeMain;
}
