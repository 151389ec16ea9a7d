/// Why there can be no full screen here.
package enum CursesError: Error, Equatable, CustomStringConvertible {
  case notATerminal
  case unknownTerminal(String)
  /// Terminfo knows it, but it cannot place its cursor: a printer, `dumb`.
  case incapable(String)
  case failed

  /// The message for a person.
  package var description: String {
    switch self {
    case .notATerminal:
      return "The screens need a terminal, and input or output is not one; the commands "
        + "(see strata --help) work without one."
    case .unknownTerminal(""):
      return "TERM is not set, so the terminal's abilities are unknown; "
        + "try TERM=xterm-256color."
    case .unknownTerminal(let name):
      return "TERM is “\(name)”, which this system's terminfo does not know; "
        + "try TERM=xterm-256color."
    case .incapable(let name):
      return "The terminal “\(name)” cannot move its cursor, which the screens need; "
        + "strata --plain STORE prints lines, and the commands (see strata --help) work too."
    case .failed:
      return "The terminal could not be set up."
    }
  }
}
