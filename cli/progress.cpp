#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <set>

namespace slimbayes::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLineEvery = std::chrono::seconds(4);
constexpr auto kDrawEvery = std::chrono::milliseconds(100);
constexpr int kBar = 24;

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);
struct sigaction old_interrupt, old_end, old_pipe;

extern "C" void ask_to_stop(int) { stop_asked = true; }

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto whole = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e9) + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

std::string facts(const Progress& p) {
  std::string text = fmt::format("epoch {}/{}  loss {:.4g}", p.epoch, p.epochs, p.loss);
  if (!std::isnan(p.score)) text += fmt::format("  valid {:.4g} (best {:.4g})", p.score, p.best);
  return text + fmt::format("  {:.0f} steps/s  {} left", p.steps_per_second, duration(p.seconds_left));
}

}  // namespace

InterruptGuard::InterruptGuard() {
  stop_asked = false;
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = ask_to_stop;
  action.sa_flags = SA_RESETHAND | SA_RESTART;  // the second one takes its default: it kills
  sigaction(SIGINT, &action, &old_interrupt);
  sigaction(SIGTERM, &action, &old_end);
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &old_pipe);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &old_interrupt, nullptr);
  sigaction(SIGTERM, &old_end, nullptr);
  sigaction(SIGPIPE, &old_pipe, nullptr);
}

bool InterruptGuard::interrupted() { return stop_asked; }

ProgressPrinter::ProgressPrinter(std::string title)
    : title_(std::move(title)), terminal_(isatty(STDERR_FILENO) == 1), printed_(Clock::now()) {}

ProgressPrinter::~ProgressPrinter() { clear(); }

void ProgressPrinter::clear() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

void ProgressPrinter::stage(const std::string& name) { stage_ = " " + name; }

void ProgressPrinter::note(const std::string& sentence) {
  clear();
  log_note(sentence);
}

void ProgressPrinter::report(const Progress& progress) {
  const auto now = Clock::now();
  if (terminal_) {
    if (drawn_ && now - printed_ < kDrawEvery) return;
    const double share =
        static_cast<double>(progress.step) / static_cast<double>(std::max<int64_t>(1, progress.steps));
    const auto full = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * kBar);
    const std::string bar = std::string(full, '#') + std::string(kBar - full, '.');
    const std::string line =
        fmt::format("\r{}{} [{}] {:3.0f} %  {}\x1b[K", title_, stage_, bar, 100 * share, facts(progress));
    std::fputs(line.c_str(), stderr);
    drawn_ = true;
  } else {
    if (now - printed_ < kLineEvery) return;
    log_line(
        fmt::format("{}{}: step {}/{}  {}", title_, stage_, progress.step, progress.steps, facts(progress)));
  }
  printed_ = now;
}

void log_line(const std::string& text) {
  const std::string line = text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void log_note(const std::string& sentence, const std::string& of) {
  static std::set<std::string> said;
  if (said.insert(sentence).second)
    log_line(fmt::format("note{}: {}", of.empty() ? "" : " (" + of + ")", sentence));
}

}  // namespace slimbayes::cli
