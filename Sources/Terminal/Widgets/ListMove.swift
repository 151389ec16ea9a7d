/// A way to go in whatever has lines. The keys for it are the same everywhere, and reported here alone.
package enum ListMove: Sendable, Equatable {
  case lines(Int)
  case pages(Int)
  case halfPages(Int)
  /// Other lines come into sight; the selection stays where it can.
  case scroll(Int)
  case start, end

  /// What arrows, paging keys, j/k, g/G, ^N/^P, ^D/^U, ^F/^B and the wheel mean; `nil` for any other
  /// key.
  package init?(_ key: Key) {
    switch key {
    case .up, .character("k"), .control("p"): self = .lines(-1)
    case .down, .character("j"), .control("n"): self = .lines(1)
    case .pageUp, .control("b"): self = .pages(-1)
    case .pageDown, .control("f"), .space: self = .pages(1)
    case .control("u"): self = .halfPages(-1)
    case .control("d"): self = .halfPages(1)
    case .home, .character("g"): self = .start
    case .end, .character("G"): self = .end
    case .mouse(.scrollUp, _, _): self = .scroll(-3)
    case .mouse(.scrollDown, _, _): self = .scroll(3)
    default: return nil
    }
  }
}
