import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A terminal of tmux's with a program in it.
final class TmuxTerminal {
  let folder: String
  private let socket: String

  /// - Parameter command: run by a shell that then says `EXIT` with its status.
  init(width: Int, height: Int, folder: String, _ command: String) {
    self.folder = folder
    socket = "TMUX= tmux -f /dev/null -S '\(folder)/tmux'"
    Shell.run(
      """
      \(socket) new-session -d -x \(width) -y \(height) \
      "export TERM=xterm-256color LANG=C.UTF-8 NO_COLOR= XDG_STATE_HOME='\(folder)/state' \
      XDG_CONFIG_HOME='\(folder)/config'; \(command); printf '\\r\\nEXIT %s\\r\\n' \\$?; sleep 3600"
      """)
  }

  func send(_ keys: String...) {
    for key in keys { Shell.run("\(socket) send-keys \(key)") }
  }

  func resize(width: Int, height: Int) {
    Shell.run("\(socket) resize-window -x \(width) -y \(height)")
  }

  /// Sends keys that arrive together.
  func sendAtOnce(_ keys: String...) {
    Shell.run("\(socket) send-keys \(keys.joined(separator: " "))")
  }

  /// Sends bytes in hexadecimal, a piece at a time.
  func sendBytes(_ pieces: String...) {
    for piece in pieces {
      Shell.run("\(socket) send-keys -H \(piece)")
      usleep(100_000)
    }
  }

  /// Closes the terminal under the program, and waits until it is gone: one that is opened at once
  /// could else be given to the server that is about to end.
  func close() {
    Shell.run(
      "server=$(\(socket) display-message -p '#{pid}'); \(socket) kill-server; "
        + "for i in $(seq 500); do kill -0 $server 2>/dev/null || break; sleep 0.02; done")
  }

  /// Sends a signal to the program, the child of the terminal's shell.
  func signal(_ name: String) {
    Shell.run("kill -\(name) $(pgrep -P $(\(socket) display-message -p '#{pane_pid}'))")
  }

  var screen: String {
    Shell.output(of: "\(socket) capture-pane -p", through: folder + "/capture")
  }

  /// What tmux was given last to be pasted.
  var buffer: String { Shell.output(of: "\(socket) show-buffer", through: folder + "/buffer") }

  /// Sets an option of tmux's.
  func set(_ option: String) { Shell.run("\(socket) set -g \(option)") }

  /// The screen once all of these are on it, and none of the others; an issue is recorded where that
  /// does not come within ``Patience``.
  ///
  /// A frame may reach the terminal in pieces, and what is read beside the keys comes when it
  /// comes: whatever a test then expects of the screen has to be awaited here.
  func screen(
    showing texts: String..., without others: [String] = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> String {
    var text = ""
    let isShown = Patience.wait {
      text = screen
      return texts.allSatisfy(text.contains) && !others.contains(where: text.contains)
    }
    if !isShown {
      let missing = texts.filter { !text.contains($0) }
      Issue.record(
        "The screen never shows \(missing) without \(others):\n\(text)",
        sourceLocation: sourceLocation)
    }
    return text
  }

  deinit { Shell.run("\(socket) kill-server") }
}
