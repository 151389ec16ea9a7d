import Curses
import Interface
import ManagedModel
import ManagedStore
import Terminal

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The loop of the terminal interface: it waits for keys, signals and answers, updates the state,
/// has the effects performed and draws.
///
/// It blocks the main thread in `poll`, so that an idle program takes no time at all; whatever
/// takes long runs elsewhere and posts its answer.
@MainActor
final class Runtime {
  /// Opens the interface on a store and returns when it is left.
  ///
  /// To be called on the main thread.
  ///
  /// - Parameters:
  ///   - model: what `--model` named.
  ///   - theme: name of a theme, or path of a theme file.
  nonisolated static func open(
    storePath: String, model: String?, theme: String?, plan: PlanArguments = PlanArguments(),
    console: Console
  ) throws -> CommandStatus {
    guard console.isTerminal else {
      // What is wrong with the store is the better answer.
      _ = try StoreOpening.open(storePath, model: model)
      throw CoreDataError(
        .usage, "the interface needs a terminal, and standard output is none",
        hint: "Use a command such as: strata info \(storePath)")
    }
    return try MainActor.assumeIsolated {
      try Runtime(storePath: storePath, model: model, theme: theme, plan: plan).run()
    }
  }

  /// How long the store may take to open before the screen comes without it.
  private static let patience = 30
  /// Milliseconds between two frames while answers stream in.
  private static let frame = 33

  private let signals: Signals
  private let mailbox: Mailbox
  private let performer: EffectPerformer
  private var themes: ThemeLibrary
  private var theme: Theme
  private var state: State
  private var screen: CursesScreen?
  private var isLeaving = false
  /// Whether a signal, or the person in the middle of a migration, ended the program.
  private var wasStopped = false
  private var needsDrawing = true
  private var lastDrawn = ContinuousClock.now - .seconds(1)
  /// Whether the terminal is asked which theme suits it: nobody else said.
  private let asksForTheme: Bool
  /// What opening the store for the first time ended in, when it failed.
  private var failure: CoreDataError?

  private init(
    storePath: String, model: String?, theme: String?, plan: PlanArguments
  ) throws {
    var themes = ThemeLibrary(environment: Self.environment)
    let chosen = theme ?? ThemeLibrary.name(fromEnvironment: Self.environment)
    let name = chosen ?? ThemeLibrary.name(isLight: nil)
    asksForTheme = chosen == nil
    self.theme = try themes.theme(named: name)
    self.themes = themes
    guard let signals = Signals() else {
      throw CoreDataError(.failed, "there are no file descriptors left")
    }
    self.signals = signals
    mailbox = Mailbox(wake: { Signals.wake(.message) })
    performer = EffectPerformer(
      source: StoreSource(path: storePath, model: model, destination: plan.to), mailbox: mailbox)
    let names = themes.names.contains(name) ? themes.names : [name] + themes.names
    state = State(
      storePath: storePath, size: Terminal.Size(width: 80, height: 24), themeNames: names,
      themeName: name)
    state.planOptions = PlanOptions(via: plan.via, documents: plan.documents)
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  private func run() throws -> CommandStatus {
    defer {
      screen?.stop()
      performer.close()
      signals.close()
    }
    apply(.start)
    let probe = asksForTheme ? BackgroundProbe(term: Self.environment("TERM")) : nil
    // A store that cannot be opened is told in the shell, without a flash of an empty screen.
    let deadline = ContinuousClock.now + .milliseconds(Self.patience)
    while state.store == nil, failure == nil, ContinuousClock.now < deadline {
      _ = wait(milliseconds: 2)
      receive()
    }
    let reply = probe?.finish()
    if let failure { throw failure }
    if let reply { state.themeName = ThemeLibrary.name(isLight: reply.isLight) }
    do {
      let screen = try CursesScreen(
        term: Self.environment("TERM"), noColor: Self.environment("NO_COLOR"),
        typed: reply?.typed ?? [])
      self.screen = screen
      apply(.resized(screen.size))
      takeKeys(from: screen)
    } catch {
      throw CoreDataError(.usage, error.description)
    }
    while !isLeaving {
      drawIfDue()
      step()
    }
    if let failure {
      screen?.stop()
      throw failure
    }
    return wasStopped ? .cancelled : .done
  }

  /// Waits for something to happen and takes it in.
  private func step() {
    let ready = wait(milliseconds: needsDrawing ? max(0, untilNextFrame) : -1)
    receive()
    guard let screen, ready.input else {
      if ready.hangUp { isLeaving = true }
      return
    }
    if takeKeys(from: screen) {
      // A key is answered at once, however short ago the last frame was.
      draw()
    } else if ready.hangUp {
      isLeaving = true
    }
  }

  /// - Returns: whether there were any.
  @discardableResult
  private func takeKeys(from screen: CursesScreen) -> Bool {
    var hasKey = false
    while !isLeaving, let key = screen.nextKey() {
      hasKey = true
      apply(.key(key))
    }
    return hasKey
  }

  private func wait(milliseconds: Int) -> (input: Bool, hangUp: Bool) {
    var descriptors = [
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: screen == nil ? -1 : STDIN_FILENO, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&descriptors, nfds_t(descriptors.count), Int32(milliseconds)) > 0 else {
      return (false, false)
    }
    let input = Int32(descriptors[1].revents)
    return (input & POLLIN != 0, input & (POLLHUP | POLLERR | POLLNVAL) != 0)
  }

  /// Takes in signals and answers.
  private func receive() {
    let events = signals.take()
    if events.contains(.terminate) {
      wasStopped = true
      apply(.terminate)
    }
    if events.contains(.suspend) { suspend() }
    if events.contains(.resized), let screen { apply(.resized(screen.resize())) }
    for message in mailbox.takeAll() { apply(message) }
  }

  private func apply(_ message: Message) {
    if case .failed(_, let error) = message, state.store == nil {
      failure = error
      isLeaving = true
      return
    }
    let clock = LocalTime.clock()
    if clock != state.clock { _ = update(&state, .clock(clock)) }
    let effects = update(&state, message)
    needsDrawing = true
    for effect in effects {
      switch effect {
      case .quit:
        if state.migrate.isRunning { wasStopped = true }
        isLeaving = true
      case .suspend: suspend()
      case .repaint: screen?.repaint()
      default: performer.perform(effect)
      }
    }
  }

  private func suspend() {
    guard let screen else { return }
    screen.suspend()
    Signals.stopProgram()
    screen.resume()
    apply(.resized(screen.resize()))
  }

  private var untilNextFrame: Int {
    let passed = ContinuousClock.now - lastDrawn
    let milliseconds =
      Int(passed.components.seconds) * 1000
      + Int(passed.components.attoseconds / 1_000_000_000_000_000)
    return Self.frame - milliseconds
  }

  private func drawIfDue() {
    guard needsDrawing, untilNextFrame <= 0 else { return }
    // A terminal that has not taken the last frame yet gets a later one instead, and the keys are
    // not kept waiting for it.
    guard screen?.isReadyForOutput ?? true else {
      lastDrawn = .now
      return
    }
    draw()
  }

  private func draw() {
    guard let screen, !isLeaving else { return }
    if screen.depth == .none {
      theme = .mono
    } else if theme.name != state.themeName {
      do {
        theme = try themes.theme(named: state.themeName)
        theme.name = state.themeName
      } catch {
        state.notice = Notice("\(error)", .warning)
      }
    }
    var grid = Grid(state.size, base: theme[.text])
    Interface.draw(state, with: theme, in: &grid)
    screen.draw(grid)
    needsDrawing = false
    lastDrawn = .now
  }
}
