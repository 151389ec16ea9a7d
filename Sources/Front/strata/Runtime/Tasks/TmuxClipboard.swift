import Files

/// The clipboard of a terminal that tmux stands before.
///
/// tmux passes a program's OSC 52 on only where `set-clipboard` is `on`. By default it is `external`: the sequence
/// is dropped without a word, and tmux's own `load-buffer -w` reaches the terminal.
enum TmuxClipboard {
  /// Runs tmux with these words and this input; `nil` where it cannot be run.
  typealias Run = (_ words: [String], _ input: [UInt8]) -> (status: Int32, output: String)?

  /// Gives tmux a text that was sent to the terminal, where that did not take it.
  ///
  /// - Returns: what to set where nothing arrives; `nil` where it does, or tmux does not say.
  static func send(_ text: String, _ run: Run = Self.run) -> String? {
    guard let asked = run(["show-options", "-gv", "set-clipboard"], []), asked.status == 0 else {
      return nil
    }
    switch asked.output.filter({ !$0.isWhitespace }) {
    case "on": return nil
    case "off": return sentence(toSet: "external")
    default:
      // Before 3.2 it has no -w.
      let loaded = run(["load-buffer", "-w", "-"], Array(text.utf8))
      return loaded?.status == 0 ? nil : sentence(toSet: "on")
    }
  }

  private static func sentence(toSet value: String) -> String {
    "tmux kept it from the clipboard: run tmux set -g set-clipboard \(value)"
  }

  private static func run(_ words: [String], _ input: [UInt8]) -> (status: Int32, output: String)? {
    var bytes: [UInt8] = []
    let result = try? Subprocess.run(
      "tmux", words, environment: Subprocess.environment(), input: input
    ) { bytes += $0 }
    return result.map { ($0.status, String(decoding: bytes, as: UTF8.self)) }
  }
}
