#pragma once

#include <chrono>
#include <string>

#include "cli/edge.h"
#include "slimbayes/train/callback.h"

namespace slimbayes::cli {

/// While an object of this class exists, signals stop a fit in an orderly way. The first Ctrl-C, SIGTERM
/// (timeout, a batch system), SIGHUP (a closed terminal) or SIGXCPU (a limit on processor time) makes
/// interrupted() true, which asks the fit to stop. Another such signal more than half a second later kills
/// the process, except SIGXCPU, which the system repeats until its hard limit kills the process. Output to a
/// closed pipe does not end the fit. A signal that the parent ignores (nohup, trap '' INT) stays ignored.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted();
};

/// Prints the progress of a fit to stderr: on a terminal as one line that is redrawn and fits the width,
/// otherwise as a new line every few seconds. Also stops the fit after an interrupt (InterruptGuard).
class ProgressPrinter : public Callback {
 public:
  /// `title` stands before the names of the parts of the fit; "": these alone. `of_several`: the notes are of
  /// several fits, so that those which differ only in numbers are printed once (log_shared_note).
  explicit ProgressPrinter(const std::string& title, bool of_several = false);
  ~ProgressPrinter() override;

  void report(const Progress& progress) override;
  void stage(const std::string& name) override;
  void note(const std::string& sentence) override;
  bool stop() override { return followed_ || InterruptGuard::interrupted(); }
  void follow(Stopped why) override { followed_ = followed_ || why == Stopped::interrupted; }

 private:
  void clear();

  std::string title_, stage_;
  bool of_several_;
  bool drawn_ = false;
  bool followed_ = false;  // another rank was interrupted
  std::chrono::steady_clock::time_point printed_;
};

/// Prints how much of a long answer is done to stderr: on a terminal as one line that is redrawn, otherwise
/// as a new line every few seconds. Prints nothing in the first two seconds.
class AnswerProgress {
 public:
  /// `title` says what is answered, such as "predict".
  explicit AnswerProgress(const std::string& title);
  ~AnswerProgress();
  AnswerProgress(const AnswerProgress&) = delete;
  AnswerProgress& operator=(const AnswerProgress&) = delete;

  /// Takes the share of the work that is done, in (0, 1].
  void report(double share);

 private:
  std::string title_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point started_, printed_;
};

/// Writes a note to stderr, unless this process has written the same note before. Repetitions occur because a
/// fit reports some notes both before and after the training, and several fits on one table have notes in
/// common. `of` names what the note is about, such as a method; "" if that is clear.
void log_note(const std::string& sentence, const std::string& of = "");

/// As log_note(), for the notes of several fits on one table: notes that differ only in numbers count as the
/// same (without_numbers).
void log_shared_note(const std::string& sentence, const std::string& of = "");

/// Returns the note with "#" in place of each number, so that notes that differ only in numbers become equal.
/// Names in quotes keep their digits.
std::string without_numbers(const std::string& note);

}  // namespace slimbayes::cli
