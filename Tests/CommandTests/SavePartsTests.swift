import Comparison
import ManagedStore
import Synchronization
import Testing

@testable import Commands
@testable import Interface
@testable import Watching
@testable import strata

@Suite("Saves on their way to the screen")
struct SavePartsTests {
  private static func save(_ objects: Int, from first: Int = 1) -> SeenSave {
    var save = ObservedSave(time: 0, saves: 1)
    save.changes = (first..<first + objects).map {
      ObjectChange(.update, of: ObjectID(entity: "Recipe", key: Int64($0)))
    }
    return SeenSave(save, time: "12:04:11")
  }

  /// A loop that takes what it is sent each time that it is woken.
  private final class Loop: Sendable {
    private let found = Mutex<[[SeenSave]]>([])
    private let mailbox = Mutex<Mailbox?>(nil)

    func begin() -> Mailbox {
      let made = Mailbox { [weak self] in self?.take() }
      mailbox.withLock { $0 = made }
      return made
    }

    private func take() {
      for case .saved(let saves) in mailbox.withLock({ $0?.takeAll() }) ?? [] {
        found.withLock { $0.append(saves) }
      }
    }

    var parts: [[SeenSave]] { found.withLock { $0 } }
  }

  @Test("ten thousand saves of ten objects come in parts, each of them and none twice")
  func parts() {
    let loop = Loop()
    var parts = SaveParts(first: nil, isCancelled: { false }, loop.begin())
    let saves = (0..<10_000).map { Self.save(10, from: $0 * 10) }
    for save in saves { parts.add(save) }
    parts.end()
    #expect(parts.count == 10_000)
    #expect(loop.parts.flatMap { $0 } == saves)
    let most = loop.parts.map { $0.reduce(0) { $0 + 1 + $1.save.changes.count } }.max() ?? 0
    #expect(most > 0 && most < SaveParts.size + 11)
  }

  @Test("what is posted first comes first, be there saves or none", arguments: [0, 3, 3000])
  func first(objects: Int) {
    let mailbox = Mailbox {}
    var parts = SaveParts(first: .saved(7), isCancelled: { true }, mailbox)
    if objects > 0 { parts.add(Self.save(objects)) }
    parts.end()
    let messages = mailbox.takeAll()
    if case .storeChanged(.saved(7))? = messages.first {} else { Issue.record("\(messages.count)") }
    #expect(messages.count == (objects > 0 ? 2 : 1))
  }

  @Test("a loop that takes nothing more is not waited for")
  func cancelled() {
    var parts = SaveParts(first: nil, isCancelled: { true }, Mailbox {})
    let start = ContinuousClock.now
    for _ in 0..<20 { parts.add(Self.save(SaveParts.size)) }
    // A second each, were it waited for.
    #expect(ContinuousClock.now - start < .seconds(15) && parts.count == 20)
  }
}
