import Commands
import Curses
import Files
import Interface
import ManagedModel
import Terminal

/// The loop of the terminal interface: it waits for keys, signals and answers, updates the state,
/// has the effects performed and draws.
///
/// It blocks the main thread in `poll`, so that an idle program takes no time at all; whatever
/// takes long runs elsewhere and posts its answer.
@MainActor
final class Runtime {
  /// How long the store may take to open before the screen comes without it.
  private static let patience = 30

  private let configuration: Configuration
  private var sessions: SessionKeeping
  /// The store that was picked.
  private var chosen: String?
  private var isLeftForOther = false
  private let signals: Signals
  private let mailbox: Mailbox
  private let performer: EffectPerformer
  var themes: ThemeLibrary
  var theme = Theme.mono
  /// Whether the theme was named on the command line, so that a mistake in it ends the program.
  let isThemeAsked: Bool
  var state: State
  private var screen: CursesScreen?
  private var isLeaving = false
  /// Whether a signal, or the person in the middle of a migration, ended the program.
  private var wasStopped = false
  private var needsDrawing = true
  private var pacing: FramePacing
  /// What waits for the first screen; `nil` when that is there.
  private var deferred: [Effect]? = []
  /// Whether the terminal is asked which theme suits it: nobody else said.
  private let asksForTheme: Bool
  /// The theme that was taken because the terminal had not answered yet.
  private var provisionalTheme: String?
  /// What opening the store for the first time ended in, when it failed.
  private var failure: CoreDataError?

  /// - Parameters:
  ///   - storePath: `nil` to pick one.
  ///   - copy: the private copy that is read in place of the store.
  ///   - models: the models that are compared where there is no store.
  ///   - against: the store that this one is compared with from the start.
  ///   - showsRecent: whether the recent stores are there to pick from.
  ///   - theme: what the choice of the store was shown in.
  init(
    _ request: Request, storePath: String?, copy: (any ReadCopy)? = nil, models: [String] = [],
    against: String? = nil, showsRecent: Bool = false, theme: String? = nil
  ) throws {
    ThreadMemory.share()
    let folders = UserFolders(environment: Output.environment)
    var configuration = Configuration(folder: folders.configuration)
    let themes = ThemeLibrary(environment: Output.environment)
    configuration.checkThemes(in: themes)
    // What the person said, then what the surroundings show.
    let chosen =
      request.theme ?? theme ?? themes.chosen(by: configuration, environment: Output.environment)
    asksForTheme = chosen == nil
    isThemeAsked = request.theme != nil
    self.themes = themes
    self.configuration = configuration
    pacing = FramePacing(rate: configuration.frameRate)
    guard let signals = Signals() else {
      throw CoreDataError(.failed, "there are no file descriptors left")
    }
    self.signals = signals
    mailbox = Mailbox(wake: { Signals.wake(.message) })
    let kept = configuration.restoreSessions ? folders.state.map { SessionFolder(state: $0) } : nil
    sessions = SessionKeeping(
      storePath != nil && request.keepsSession ? kept : nil, isFresh: request.isFresh,
      place: copy == nil ? nil : storePath)
    performer = EffectPerformer(
      source: StoreSource(
        path: copy?.path ?? storePath ?? "", model: request.model, destination: request.destination,
        models: models),
      mailbox: mailbox, sessions: kept)
    state = State(
      storePath: storePath ?? "",
      size: CursesScreen.terminalSize ?? Terminal.Size(width: 80, height: 24),
      themeName: chosen ?? configuration.theme(isLight: false))
    state.copy = copy.map {
      CopyPlace(
        root: $0.root, prefix: $0.prefix, noun: $0.noun, model: request.model, whole: $0.whole,
        isContained: $0.isContained)
    }
    state.planOptions = request.plan
    state.keys = configuration.keys
    state.refreshMode = configuration.refresh
    state.configurationProblems = configuration.problems
    state.models = models
    state.against = against
    if storePath == nil, models.isEmpty {
      state.picker = PickerScreen(
        folder: request.path ?? ".", home: folders.home,
        simulators: SimulatorReading.folder(in: folders.home), showsRecent: showsRecent)
    }
    if let first = configuration.problems.first {
      let more = configuration.problems.count - 1
      state.notice = Notice(first + (more > 0 ? " (and \(more) more: ?)" : ""), .warning)
    }
  }

  func run() throws -> Ending {
    defer {
      sessions.keep(state, isLast: true)
      screen?.stop()
      performer.close()
      signals.close()
    }
    let deadline = ContinuousClock.now + .milliseconds(Self.patience)
    apply(.start)
    let probe = asksForTheme ? BackgroundProbe(term: Output.environment("TERM")) : nil
    do {
      try prepare()
    } catch {
      _ = probe?.finish()
      throw error
    }
    // A store that cannot be opened is reported in the shell, without a flash of an empty screen; and one
    // that can comes with its rows.
    while !state.isFilled, failure == nil, ContinuousClock.now < deadline {
      _ = wait(milliseconds: 2)
      receive()
    }
    let reply = probe?.finish()
    if let failure { throw failure }
    if let reply { state.themeName = configuration.theme(isLight: reply.isLight == true) }
    do {
      let screen = try CursesScreen(
        term: Output.environment("TERM"), noColor: Output.environment("NO_COLOR"),
        mouse: configuration.mouse, typed: reply?.typed ?? [])
      self.screen = screen
      state.colors = screen.depth
      apply(.resized(screen.size))
      if asksForTheme, reply?.isLight == nil { provisionalTheme = state.themeName }
      takeKeys(from: screen)
    } catch {
      throw CoreDataError(.usage, error.description)
    }
    draw()
    let effects = deferred ?? []
    deferred = nil
    for effect in effects { performer.perform(effect) }
    performer.releaseTidying()
    while !isLeaving {
      drawIfDue()
      step()
    }
    if let failure {
      screen?.stop()
      throw failure
    }
    return Ending(
      status: wasStopped ? .cancelled : .done, chosen: chosen, isLeftForOther: isLeftForOther)
  }

  /// Waits for something to happen and takes it in.
  private func step() {
    let ready = wait(milliseconds: needsDrawing ? pacing.wait(at: .now) : sessions.untilKept)
    receive()
    sessions.keep(state, isLast: false)
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
    if let isLight = screen.takeBackground(), state.themeName == provisionalTheme {
      state.themeName = configuration.theme(isLight: isLight)
      needsDrawing = true
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
    if case .failed(_, let error) = message, state.isStarting {
      failure = error
      isLeaving = true
      return
    }
    let clock = LocalTime.clock()
    if clock != state.clock { _ = update(&state, .clock(clock)) }
    if case .answer(_, .opened(let store)) = message, state.store == nil,
      let session = sessions.session(of: store)
    {
      state.restore(session)
    }
    if case .key = message { sessions.hasActed = true }
    let effects = update(&state, message)
    needsDrawing = true
    for effect in effects {
      switch effect {
      case .quit:
        if state.work != nil { wasStopped = true }
        isLeaving = true
      case .suspend: suspend()
      case .editText(let id, let text): edit(text, for: id)
      case .repaint: screen?.repaint()
      case .copy(let text):
        screen?.copy(text)
        if Output.environment("TMUX") != nil { performer.copyThroughTmux(text) }
      case .find(let id, .themes):
        let hasColors = screen?.depth ?? .none > .none
        apply(.answer(id, .themes(themes.choices(), hasColors: hasColors)))
      case .keepTheme(let name): ThemeMemory.keep(name, environment: Output.environment)
      case .choose(let path):
        chosen = path
        isLeftForOther = path == nil
        isLeaving = true
      default:
        if deferred != nil, effect.canWait, !state.isStarting {
          deferred?.append(effect)
        } else {
          performer.perform(effect)
        }
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

  /// Leaves the terminal to the editor, and waits until it has ended.
  private func edit(_ text: String, for id: TaskID) {
    screen?.suspend()
    let result = Result { try TextEditor(environment: Output.environment).edit(text) }
    // A ^Z was the editor's own.
    let events = signals.take()
    screen?.resume()
    if events.contains(.terminate) { Signals.wake(.terminate) }
    Signals.wake(.message)
    if let screen { apply(.resized(screen.resize())) }
    switch result {
    case .success(let new): apply(.answer(id, .editedText(new)))
    case .failure(let error): apply(.failed(id, CoreDataError(error, or: .failed)))
    }
  }

  private func drawIfDue() {
    guard needsDrawing, pacing.wait(at: .now) == 0 else { return }
    // A terminal that has not taken the last frame yet gets a later one instead, and the keys are
    // not kept waiting for it.
    guard screen?.isReadyForOutput ?? true else {
      pacing.drew(at: .now)
      return
    }
    draw()
    pacing.drew(at: .now)
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
        state.themeName = theme.name
      }
    }
    var grid = Grid(state.size, base: theme[.text])
    Interface.draw(state, with: theme, in: &grid)
    screen.draw(grid)
    needsDrawing = false
  }
}

/// When the next frame may come, so that answers that stream in are drawn so many times a second.
///
/// Frames for keys, and the first, are drawn at once and do not keep the answers to them waiting.
struct FramePacing {
  private let interval: Duration
  /// When the last frame was drawn for answers.
  private var streamed: ContinuousClock.Instant?

  init(rate: Int) {
    interval = .seconds(1) / rate
  }

  /// A frame was drawn for answers, or put off for a terminal that takes none now.
  mutating func drew(at moment: ContinuousClock.Instant) { streamed = moment }

  /// Milliseconds until the next may be drawn, none where it may be now.
  func wait(at moment: ContinuousClock.Instant) -> Int {
    guard let streamed else { return 0 }
    let left = interval - (moment - streamed)
    return left > .zero ? max(1, Int(left / .milliseconds(1))) : 0
  }
}
