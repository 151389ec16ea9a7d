import CNcurses
import Terminal

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The terminal as a screen: grids go out, keys come in.
///
/// There is one at a time. The code that starts it calls `stop` on every way out, and
/// `emergencyRestore` in handlers of signals that leave no way out.
@MainActor
package final class CursesScreen {
  /// What the terminal can show; colours beyond it are reduced. With `.none` draw with
  /// `Theme.mono`.
  package let depth: ColorDepth

  private var pairs: ColorPairs
  private var styles: [Style: (attributes: attr_t, pair: Int32)] = [:]
  /// The look that was asked for last: mostly it is that of the next cell, too.
  private var lastLook: (style: Style, look: (attributes: attr_t, pair: Int32))?
  private var keys = KeyReader()
  /// What the terminal shows now; `nil` when that is unknown.
  private var shown: Grid?
  private var isActive = true
  private let output = FrameOutput.standard
  private let pasteMode: (on: String, off: String)?
  private let hasMouse: Bool

  /// Takes over the terminal.
  ///
  /// - Parameters:
  ///   - term: the value of TERM.
  ///   - noColor: the value of NO_COLOR.
  ///   - mouse: whether the mouse is ours; the terminal's own selection needs Shift then.
  ///   - typed: what was typed before, and read already.
  /// - Throws: `CursesError` when there is no terminal or it cannot show a screen; nothing has been
  ///   written to it then.
  package init(
    term: String?, noColor: String?, mouse: Bool = true, typed: [UInt8] = []
  ) throws(CursesError) {
    let term = term ?? ""
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { throw .notATerminal }
    Self.setLocale()
    guard Self.knows(term) else { throw .unknownTerminal(term) }
    guard Terminfo.string("cup") != nil, Terminfo.string("clear") != nil else {
      throw .incapable(term)
    }
    pasteMode = Self.pasteMode(term)
    hasMouse = mouse && (Terminfo.string("kmous") != nil || Self.isOfKnownFamily(term))
    EmergencyRestore.prepare(
      extra: [pasteMode?.off, hasMouse ? Self.mouseOff : nil].compactMap { $0 },
      output: output.descriptor)
    set_escdelay(KeyReader.escapeDelay)
    guard strata_newterm(term, output.file) != nil else { throw .failed }
    // Raw, so that ^C, ^Z and ^S arrive as keys.
    raw()
    noecho()
    nonl()
    KeyReader.prepare()
    intrflush(strata_window(), false)
    curs_set(0)
    var depth = ColorDepth.none
    if has_colors(), start_color() == OK {
      use_default_colors()
      depth = ColorDepth(
        terminfoColors: Int(strata_colors()),
        isDirect: strata_has_direct_colors() && Terminfo.flag("RGB"), noColor: noColor)
    }
    self.depth = depth
    pairs = ColorPairs(isDirect: depth == .trueColor)
    keys.prepend(typed)
    enterModes()
    // The first read would repaint curses' own empty screen over ours.
    refresh()
  }

  /// Columns and rows as curses believes them; see `resize`.
  package var size: Size {
    Size(width: Int(getmaxx(strata_window())), height: Int(getmaxy(strata_window())))
  }

  /// Asks the terminal for its size and takes it on; for SIGWINCH, which a DispatchSource takes
  /// away from curses.
  @discardableResult
  package func resize() -> Size {
    var (rows, columns): (Int32, Int32) = (0, 0)
    if isActive, strata_window_size(&rows, &columns) == 0, is_term_resized(rows, columns) {
      resizeterm(rows, columns)
      clear()
      shown = nil
    }
    return size
  }

  /// Shows a grid, sending only what differs from the last one.
  package func draw(_ grid: Grid) {
    guard isActive else { return }
    if pairs.isNearlyFull {
      // Pictures take pairs by the thousand; begun again, they are those that are seen.
      pairs = ColorPairs(isDirect: depth == .trueColor)
      styles = [:]
      lastLook = nil
      repaint()
    }
    if shown?.size != grid.size { erase() }
    let size = size
    grid.forEachChange(since: shown, in: size) { x, y, cell, isWide in
      put(cell, isWide: isWide, x: x, y: y)
    }
    if let cursor = grid.cursor, cursor.x < min(grid.width, size.width),
      cursor.y < min(grid.height, size.height)
    {
      move(Int32(cursor.y), Int32(cursor.x))
      curs_set(1)
    } else {
      curs_set(0)
    }
    output.sendFrame { _ = refresh() }
    shown = grid
  }

  /// Forgets what the terminal shows, so that the next grid is sent whole: ^L.
  package func repaint() {
    shown = nil
    clearok(strata_window(), true)
  }

  /// Whether the terminal takes output without waiting: false while it is slow, or stopped by ^S.
  package var isReadyForOutput: Bool {
    var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&descriptor, 1, 0) != 0
  }

  /// The next key, or `nil` if there is none right now.
  ///
  /// When standard input becomes readable, call it until it answers `nil`: curses reads ahead.
  package func nextKey() -> Key? {
    isActive ? keys.next() : nil
  }

  /// Whether the background is light, once after the terminal answered late that it is or is not.
  package func takeBackground() -> Bool? { keys.takeBackground() }

  /// Gives the terminal back for a while: before stopping for ^Z, before running an editor.
  package func suspend() {
    guard isActive else { return }
    isActive = false
    leaveModes()
    if Terminfo.string("rmcup") == nil {
      // Our screen stays in sight: the shell's prompt comes into its last line.
      move(Int32(max(0, size.height - 1)), 0)
      clrtoeol()
      refresh()
    }
    endwin()
  }

  /// Takes the terminal again after `suspend`; the next grid is sent whole.
  package func resume() {
    guard !isActive else { return }
    isActive = true
    refresh()
    enterModes()
    shown = nil
    clearok(strata_window(), true)
    resize()
  }

  /// Gives the terminal back as it was. Calling it again does nothing.
  package func stop() {
    suspend()
  }

  /// Gives the terminal back from a signal handler or on the way into a trap.
  ///
  /// It only writes bytes and sets modes that were gathered at the start, which is all that a
  /// signal handler may do. Without a screen it does nothing.
  package nonisolated static func emergencyRestore() {
    EmergencyRestore.run()
  }

  /// Gives a text to the terminal's clipboard by OSC 52; a terminal that does not know it says
  /// nothing.
  package func copy(_ text: String) {
    send("\u{1B}]52;c;" + Base64.text(Array(text.utf8)) + "\u{07}")
  }

  /// Sends text to the terminal past curses: an OSC 52 that copies to the clipboard, a title.
  ///
  /// It must not move the cursor.
  package func send(_ sequence: String) {
    guard isActive else { return }
    fflush(nil)
    Self.write(sequence)
  }
}

extension CursesScreen {
  private func put(_ cell: Cell, isWide: Bool, x: Int, y: Int) {
    let look = look(of: cell.style)
    var text = cell.text.unicodeScalars.map { wchar_t(bitPattern: $0.value) }
    // Curses advances by the C library's width. Where that differs from ours, as for an emoji
    // newer than the library, the row would slip; a stand-in of the right width cannot.
    if let first = text.first, first >= 0x300, wcwidth(first) != (isWide ? 2 : 1) {
      text = [0xFFFD]
      if isWide { _ = strata_put(Int32(y), Int32(x + 1), [0x20, 0], look.attributes, look.pair) }
    }
    text.append(0)
    _ = strata_put(Int32(y), Int32(x), text, look.attributes, look.pair)
  }

  private func look(of style: Style) -> (attributes: attr_t, pair: Int32) {
    if let lastLook, lastLook.style == style { return lastLook.look }
    let look = styles[style] ?? made(for: style)
    lastLook = (style, look)
    return look
  }

  private func made(for style: Style) -> (attributes: attr_t, pair: Int32) {
    let reduced = style.reduced(to: depth)
    var attributes = strata_attr_normal
    if reduced.attributes.contains(.bold) { attributes |= strata_attr_bold }
    if reduced.attributes.contains(.dim) { attributes |= strata_attr_dim }
    if reduced.attributes.contains(.underline) { attributes |= strata_attr_underline }
    if reduced.attributes.contains(.reverse) { attributes |= strata_attr_reverse }
    let look = (attributes: attributes, pair: depth == .none ? 0 : pairs.number(for: reduced))
    styles[style] = look
    return look
  }

  /// Presses and releases, motion while a button is held, and coordinates as numbers. A terminal
  /// passes over what it does not know.
  private static let mouseOn = "\u{1B}[?1000h\u{1B}[?1002h\u{1B}[?1006h"
  private static let mouseOff = "\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?1000l"

  private func enterModes() {
    if hasMouse { Self.write(Self.mouseOn) }
    if let pasteMode { Self.write(pasteMode.on) }
  }

  private func leaveModes() {
    if hasMouse { Self.write(Self.mouseOff) }
    if let pasteMode { Self.write(pasteMode.off) }
  }

  /// Bracketed paste where terminfo has it, or where terminfo is old but the family is known.
  private static func pasteMode(_ term: String) -> (on: String, off: String)? {
    if let on = Terminfo.string("BE"), let off = Terminfo.string("BD") { return (on, off) }
    return isOfKnownFamily(term) ? ("\u{1B}[?2004h", "\u{1B}[?2004l") : nil
  }

  private static func isOfKnownFamily(_ term: String) -> Bool {
    ["xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "kitty", "wezterm"]
      .contains(where: term.hasPrefix)
  }

  /// The user's character set, or UTF-8 where that is another: we write Unicode. Nothing else of the
  /// locale is asked for.
  private static func setLocale() {
    setlocale(LC_CTYPE, "")
    for fallback in ["C.UTF-8", "en_US.UTF-8"] {
      if let codeset = strata_codeset(), String(cString: codeset) == "UTF-8" { return }
      setlocale(LC_CTYPE, fallback)
    }
  }

  private static func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { systemWrite(STDOUT_FILENO, $0.baseAddress, $0.count) }
      guard written > 0 else { return }
      bytes = bytes.dropFirst(written)
    }
  }
}

/// `write` by a name that the methods above do not hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}

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

/// What the terminfo entry that is set up says.
enum Terminfo {
  /// A string capability without its padding, `nil` when the terminal has none.
  static func string(_ name: String) -> String? {
    // tigetstr answers with -1 for a name that is no string capability.
    guard let value = strata_tigetstr(name), Int(bitPattern: value) != -1 else { return nil }
    var text = String(cString: value)
    while let start = text.range(of: "$<"), let end = text[start...].firstIndex(of: ">") {
      text.removeSubrange(start...end)
    }
    return text
  }

  static func flag(_ name: String) -> Bool { strata_tigetflag(name) > 0 }
}

extension String {
  /// The index of the first occurrence of an ASCII text; the standard library alone has no search.
  fileprivate func range(of text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }
}

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
