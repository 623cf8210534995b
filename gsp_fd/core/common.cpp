#include "common.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace gsp {
namespace {

volatile sig_atomic_t last_resort_code = 0;

void end_process(int) {
    static constexpr char message[] = "Time limit has been reached.\n";
    if (write(STDOUT_FILENO, message, sizeof message - 1) < 0) _exit(last_resort_code);
    _exit(last_resort_code);
}

}  // namespace

void set_last_resort(double seconds, int exit_code) {
    last_resort_code = exit_code;
    struct sigaction action {};
    action.sa_handler = end_process;
    sigaction(SIGVTALRM, &action, nullptr);
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(seconds);
    timer.it_value.tv_usec = static_cast<suseconds_t>(1e6 * (seconds - std::floor(seconds)));
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

size_t resident_kb() {
    if (FILE *file = std::fopen("/proc/self/statm", "r")) {
        long total = 0, resident = 0;
        int fields = std::fscanf(file, "%ld %ld", &total, &resident);
        std::fclose(file);
        if (fields == 2) return static_cast<size_t>(resident) * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 1024;
    }
    return peak_kb();
}

size_t peak_kb() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
    return static_cast<size_t>(usage.ru_maxrss) / 1024;
#else
    return static_cast<size_t>(usage.ru_maxrss);
#endif
}

Watch::Watch(double cpu_limit, size_t max_kb, std::function<bool()> poll)
    : cpu_deadline_(std::isinf(cpu_limit) ? cpu_limit : cpu_seconds() + cpu_limit),
      max_kb_(max_kb), poll_(std::move(poll)), next_(std::chrono::steady_clock::now()),
      next_report_(next_ + std::chrono::seconds(1)) {}

void Watch::expect(size_t bytes) {
    constexpr size_t small = 1 << 20;
    if (max_kb_ == 0 || bytes < small || resident_kb() + bytes / 1024 < max_kb_) return;
    stop_ = Stop::memory;
    throw Stopped(stop_);
}

bool Watch::check(std::chrono::steady_clock::time_point now) {
    using std::chrono::milliseconds;
    next_ = now + milliseconds(10);
    if (cpu_seconds() >= cpu_deadline_) stop_ = Stop::time;
    else if (max_kb_ != 0 && resident_kb() >= max_kb_) stop_ = Stop::memory;
    else if (poll_ && poll_()) stop_ = Stop::interrupted;
    if (report_ && now >= next_report_) {
        next_report_ = now + milliseconds(200);
        report_(steps_);
    }
    return stop_ != Stop::none;
}

}  // namespace gsp
