#pragma once

#include <chrono>
#include <string>

#include "slimbayes/train/callback.h"

namespace slimbayes::cli {

/// While it lives, the first Ctrl-C, SIGTERM (timeout, a batch system), SIGHUP (a closed terminal) or SIGXCPU
/// (a limit on processor time) asks the fit to stop, and one that comes more than half a second later kills
/// (of SIGXCPU, which the system repeats, the hard limit does); a closed stderr does not end the fit. After
/// nohup SIGHUP stays ignored.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted();
};

/// Prints a fit's progress to stderr: on a terminal one line that fits its width, else a line every few
/// seconds.
class ProgressPrinter : public Callback {
 public:
  explicit ProgressPrinter(std::string title);
  ~ProgressPrinter() override;

  void report(const Progress& progress) override;
  void stage(const std::string& name) override;
  void note(const std::string& sentence) override;
  bool stop() override { return InterruptGuard::interrupted(); }

 private:
  void clear();

  std::string title_, stage_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point printed_;
};

/// A line for the log, on stderr.
void log_line(const std::string& text);

/// A note on stderr, unless this process has said the same one: a fit says what it knows before the training,
/// and several fits on one table say the same. `of`: what it is about, such as a method.
void log_note(const std::string& sentence, const std::string& of = "");

}  // namespace slimbayes::cli
