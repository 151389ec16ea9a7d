import CNcurses
import Terminal

/// What can be asked of a terminal before there is a screen.
extension CursesScreen {
  /// Whether there is an entry for such a terminal; initscr would end the process for one it does not
  /// know. The entry is read once, so that asking early leaves less to do later.
  @discardableResult
  package static func knows(_ term: String) -> Bool {
    var problem: Int32 = 0
    return !term.isEmpty && setupterm(term, FrameOutput.standard.descriptor, &problem) == OK
  }

  /// Columns and rows of the terminal; `nil` where it does not say.
  package static var terminalSize: Size? {
    var (rows, columns): (Int32, Int32) = (0, 0)
    guard strata_window_size(&rows, &columns) == 0 else { return nil }
    return Size(width: Int(columns), height: Int(rows))
  }
}
