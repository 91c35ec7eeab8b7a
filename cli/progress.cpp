#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "cli/messages.h"
#include "cli/terminal.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLineEvery(4000);
constexpr std::chrono::milliseconds kDrawEvery(100);
constexpr std::chrono::seconds kSilent(2);
constexpr size_t kBar = 24;
constexpr int kEveryFact = 6;  // the highest rank of a Fact: all facts are shown

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);
constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
struct sigaction old_ending[std::size(kEnding)], old_pipe;

/// A length of time in milliseconds. Signals that follow each other more closely count as one, because
/// timeout(1) signals both the process and its group.
constexpr int64_t kTogether = 500;
std::atomic<int64_t> asked_at{0};  // time of the first signal in ms (monotonic clock); 0: none
static_assert(std::atomic<int64_t>::is_always_lock_free);

/// The signal handler. It uses only functions that are safe in one: clock_gettime, signal and raise.
extern "C" void ask_to_stop(int number) {
  struct timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t ms = static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
  int64_t first = 0;
  if (asked_at.compare_exchange_strong(first, ms)) {
    stop_asked = true;
  } else if (number != SIGXCPU && ms - first > kTogether) {
    std::signal(number, SIG_DFL);
    std::raise(number);  // delivered when this handler returns
  }
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto whole = std::llround(std::clamp(seconds, 0.0, 1e9));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

double share_of(const Progress& p) {
  return static_cast<double>(p.step) / static_cast<double>(std::max<int64_t>(1, p.steps));
}

std::string bar_of(double share, size_t size) {
  const auto full = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(size));
  return size == 0 ? "" : " [" + std::string(full, '#') + std::string(size - full, '.') + "]";
}

/// A piece of the progress line, with its rank. If the line is too short for all facts, those with the
/// highest ranks are left out first.
struct Fact {
  std::string text;
  int rank;
};

/// Returns when the fit will end, as text. "... left" is the time that the steps or the time limit allow, "at
/// most ..." if patience may end the fit earlier. "ends in ... if nothing improves" is the time until
/// patience ends it; it is shown when the last validation was not the best.
std::string end_of(const Progress& p) {
  if (!std::isfinite(p.left.if_none_better)) return duration(p.left.seconds) + " left";
  return p.rounds_since_best > 0
             ? fmt::format("ends in {} if nothing improves", duration(p.left.if_none_better))
             : fmt::format("at most {} left", duration(p.left.seconds));
}

std::string speed_of(double steps_per_second) {
  return steps_per_second < 10 ? fmt::format("{:.2g} steps/s", steps_per_second)
                               : fmt::format("{:.0f} steps/s", steps_per_second);
}

std::vector<Fact> facts_of(const Progress& p) {
  std::vector<Fact> facts = {{fmt::format("epoch {}/{}", p.epoch, p.epochs), 3},
                             {fmt::format("loss {:.4g}", p.loss), 5}};
  if (!std::isnan(p.score)) {
    facts.push_back({fmt::format("valid {:.4g}", p.score), 2});
    const std::string best = std::isnan(p.best) ? "(none chosen yet)" : fmt::format("(best {:.4g})", p.best);
    facts.push_back({best, 4});
  }
  facts.push_back({speed_of(p.steps_per_second), 6});
  facts.push_back({end_of(p), 1});
  return facts;
}

std::string joined(const std::vector<Fact>& facts, int highest) {
  std::string text;
  for (const Fact& fact : facts) {
    if (fact.rank > highest) continue;
    text += (text.empty() ? "" : fact.text.starts_with('(') ? " " : "  ") + fact.text;
  }
  return text;
}

/// Returns the progress line for a terminal, at most `width` columns wide. If it is too long, it leaves out
/// the speed, then the loss, then shortens the bar, then leaves out other facts.
std::string drawn(const std::string& title, const Progress& p, size_t width) {
  const double share = share_of(p);
  const std::vector<Fact> facts = facts_of(p);
  constexpr std::pair<int, size_t> kSteps[] = {
      {kEveryFact, kBar}, {5, kBar}, {4, kBar}, {4, kBar / 2}, {4, kBar / 4}, {4, 0}, {3, 0}, {2, 0}, {1, 0}};
  std::string line;
  for (const auto& [highest, bar] : kSteps) {
    line = fmt::format("{}{} {:3.0f} %  {}", title, bar_of(share, bar), 100 * share, joined(facts, highest));
    if (display_width(line) <= width) return line;
  }
  line = fmt::format("{} {:3.0f} %", title, 100 * share);
  return display_width(line) <= width ? line : line.substr(0, width);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  stop_asked = false;
  asked_at = 0;
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = ask_to_stop;
  for (size_t i = 0; i < std::size(kEnding); ++i) {
    action.sa_flags = SA_RESTART;
    sigaction(kEnding[i], &action, &old_ending[i]);
    if (old_ending[i].sa_handler == SIG_IGN) sigaction(kEnding[i], &old_ending[i], nullptr);
  }
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &old_pipe);
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < std::size(kEnding); ++i) sigaction(kEnding[i], &old_ending[i], nullptr);
  sigaction(SIGPIPE, &old_pipe, nullptr);
}

bool InterruptGuard::interrupted() { return stop_asked; }

ProgressPrinter::ProgressPrinter(const std::string& title, bool of_several)
    : title_(shown(title)), of_several_(of_several), printed_(Clock::now()) {}

ProgressPrinter::~ProgressPrinter() { clear(); }

void ProgressPrinter::clear() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

void ProgressPrinter::stage(const std::string& name) { stage_ = (title_.empty() ? "" : " ") + shown(name); }

void ProgressPrinter::note(const std::string& sentence) {
  clear();
  of_several_ ? log_shared_note(sentence) : log_note(sentence);
}

void ProgressPrinter::report(const Progress& progress) {
  const auto now = Clock::now();
  const std::string title = title_ + stage_;
  if (const auto width = terminal_width(STDERR_FILENO)) {
    if (drawn_ && now - printed_ < kDrawEvery) return;
    // The last column stays free: a character there makes some terminals start the next line.
    std::fputs(("\r" + drawn(title, progress, *width - 1) + "\x1b[K").c_str(), stderr);
    drawn_ = true;
  } else {
    if (now - printed_ < kLineEvery) return;
    log_line(fmt::format("{}: step {}/{}  {}", title, progress.step, progress.steps,
                         joined(facts_of(progress), kEveryFact)));
  }
  printed_ = now;
}

AnswerProgress::AnswerProgress(const std::string& title)
    : title_(shown(title)), started_(Clock::now()), printed_(started_) {}

AnswerProgress::~AnswerProgress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void AnswerProgress::report(double share) {
  const auto now = Clock::now();
  const auto width = terminal_width(STDERR_FILENO);
  if (now - started_ < kSilent || now - printed_ < (width ? kDrawEvery : kLineEvery)) return;
  printed_ = now;
  const double spent = std::chrono::duration<double>(now - started_).count();
  const std::string text =
      fmt::format("{:3.0f} %  {} left", 100 * share, duration(spent * (1 / std::max(share, 1e-9) - 1)));
  if (!width) return log_line(fmt::format("{} {}", title_, text));
  std::string line = fmt::format("{}{} {}", title_, bar_of(share, kBar), text);
  if (display_width(line) > *width - 1) line = text;
  std::fputs(("\r" + line + "\x1b[K").c_str(), stderr);
  drawn_ = true;
}

std::string without_numbers(const std::string& note) {
  std::string out;
  bool quoted = false, in_number = false;
  for (size_t i = 0; i < note.size(); ++i) {
    const char c = note[i];
    if (c == '\'') quoted = !quoted;
    const auto is_digit = [&](size_t at) {
      return at < note.size() && std::isdigit(static_cast<unsigned char>(note[at])) != 0;
    };
    const bool sign = (c == '-' || c == '+') && is_digit(i + 1) && (i == 0 || note[i - 1] == ' ');
    const bool digit = is_digit(i) || sign;
    const bool goes_on = in_number && (c == '.' || c == 'e' || c == '+' || c == '-') && is_digit(i + 1);
    if (quoted || !(digit || goes_on)) {
      out += c;
      in_number = false;
      continue;
    }
    if (!in_number) out += '#';
    in_number = true;
  }
  return out;
}

void log_shared_note(const std::string& sentence, const std::string& of) {
  static std::set<std::string> said;
  if (said.insert(without_numbers(sentence)).second) log_note(sentence, of);
}

void log_note(const std::string& sentence, const std::string& of) {
  static std::set<std::string> said;
  if (said.insert(sentence).second)
    log_line(fmt::format("note{}: {}", of.empty() ? "" : " (" + of + ")", sentence));
}

}  // namespace slimbayes::cli
