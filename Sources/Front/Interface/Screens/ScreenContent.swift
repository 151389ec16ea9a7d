import Terminal

/// What a screen is: besides what every component has, its name, and what it says and does where
/// the interface as a whole asks. All but its name, its keys and its look can be left out.
///
/// A screen changes itself directly, and asks for what others are to do by ``Context/on(_:_:)``. A new
/// screen is a folder, and a line in ``Screen/all``.
protocol ScreenContent: Component {
  /// Its name in the header, in the help and in the configuration.
  static var title: String { get }
  /// The command line that does the same.
  static var command: String? { get }
  init()
  /// One of its keys is about to do something, and has done it.
  mutating func willAct(_ context: Context)
  mutating func didAct(_ context: Context)
  /// Takes note of something that happened around it.
  mutating func meet(_ occasion: Occasion, in context: inout Context) -> [Effect]
  /// Does what the mouse asks for; `nil` where its lists do that by themselves.
  mutating func mouse(
    _ action: Key.MouseAction, _ point: Point, in context: inout Context
  ) -> [Effect]?
  /// Moves as a key does so many times; `nil` where the key is to be pressed so often.
  mutating func move(_ key: Key, times: Int, in context: inout Context) -> [Effect]?
  mutating func search(_ text: String, in context: inout Context) -> [Effect]
  /// Searches for what was searched for before, and goes back to where that was.
  mutating func giveUpSearch(_ former: String, in context: inout Context) -> [Effect]
  /// What of the selected thing can be copied; the first is what the key alone takes.
  func copies(_ context: Context) -> [CopyLayer.Choice]
  /// What the footer says at its end.
  func note(_ context: Context) -> String
  /// What it has going on with the store and must not be left in the middle, for sentences.
  var work: String? { get }
  /// What the header says on every screen while something is going on.
  var badge: String? { get }
}

/// Something that happens around the screens.
enum Occasion: Sendable, Equatable {
  /// The store was opened, or opened again.
  case opened
  /// The versions beside the store are known.
  case versions
  /// Others were read by path, or out of git.
  case moreVersions
  /// It has come into sight.
  case shown
  /// The terminal is of another size.
  case resized
  /// A key was pressed on it, or an answer came: other things may be in sight.
  case settled
}

extension ScreenContent {
  static var command: String? { nil }
  mutating func willAct(_ context: Context) {}
  mutating func didAct(_ context: Context) {}
  mutating func meet(_ occasion: Occasion, in context: inout Context) -> [Effect] { [] }
  mutating func mouse(
    _ action: Key.MouseAction, _ point: Point, in context: inout Context
  ) -> [Effect]? { nil }
  mutating func move(_ key: Key, times: Int, in context: inout Context) -> [Effect]? { nil }
  mutating func search(_ text: String, in context: inout Context) -> [Effect] { [] }
  mutating func giveUpSearch(_ former: String, in context: inout Context) -> [Effect] {
    search(former, in: &context)
  }
  func copies(_ context: Context) -> [CopyLayer.Choice] { [] }
  func note(_ context: Context) -> String { "" }
  var work: String? { nil }
  var badge: String? { nil }
}

extension State {
  /// A screen as it is now.
  subscript(screen: Screen) -> any ScreenContent {
    get { screen == .files ? picker ?? PickerScreen() : screens[screen] }
    set {
      if screen == .files {
        picker = newValue as? PickerScreen
      } else {
        screens[screen] = newValue
      }
    }
  }

  subscript<Content: ScreenContent>(type: Content.Type) -> Content {
    get { self[Screen(type)] as? Content ?? Content() }
    set { self[Screen(type)] = newValue }
  }

  /// The screen that is in sight: the choice of a store, while none is open.
  var front: Screen { picker == nil ? screen : .files }

  /// Has a screen work; what it has become takes its place, then what it asks for is done.
  mutating func on(
    _ screen: Screen, _ work: (inout any ScreenContent, inout Context) -> [Effect]?
  ) -> [Effect]? {
    var content = self[screen]
    let (effects, context) = lend(to: .screen(screen)) { work(&content, &$0) }
    self[screen] = content
    let more = fulfil(context)
    return effects.map { $0 + more } ?? (more.isEmpty ? nil : more)
  }

  mutating func on(
    _ screen: Screen, _ work: (inout any ScreenContent, inout Context) -> [Effect]
  ) -> [Effect] {
    on(screen) { content, context -> [Effect]? in work(&content, &context) } ?? []
  }

  @discardableResult
  mutating func on<Content: ScreenContent>(
    _ type: Content.Type, _ work: (inout Content, inout Context) -> [Effect]
  ) -> [Effect] {
    var content = self[type]
    let (effects, context) = lend(to: .screen(Screen(type))) { work(&content, &$0) }
    self[type] = content
    return effects + fulfil(context)
  }

  /// Informs every screen of what happened.
  mutating func meet(_ occasion: Occasion) -> [Effect] {
    Screen.allCases.flatMap { on($0) { $0.meet(occasion, in: &$1) } }
  }

  /// What a screen asks for when it comes into sight.
  mutating func entered() -> [Effect] { on(front) { $0.meet(.shown, in: &$1) } }

  mutating func go(to screen: Screen) -> [Effect] {
    if let reason = reasonNotToShow(screen) {
      notice = Notice("\(screen.title): \(reason)", .warning)
      return []
    }
    // The other screens are about the store itself.
    let back = known.remains.isShown && screen != .browse ? turnRemains() : []
    notice = back.isEmpty ? notice : nil
    self.screen = screen
    return back + entered()
  }

  /// Why a screen has nothing to show; `nil` where it has.
  func reasonNotToShow(_ screen: Screen) -> String? {
    if screen != .diff, let reason = known.noStore { return reason }
    let isThere =
      known.refusal == nil || screen == .rescue || (screen == .browse && known.remains.isShown)
    return isThere ? nil : "the store does not open; s salvages it first"
  }

  /// What a screen has going on with the store; `nil` where nothing runs.
  package var work: String? { screens.work }
}

extension CaseIterable where Self: RawRepresentable<Int>, AllCases == [Self] {
  /// The pane so many steps further, around the end.
  func next(_ step: Int) -> Self {
    let all = Self.allCases
    return all[(rawValue + step + all.count) % all.count]
  }
}
