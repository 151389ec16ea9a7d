import Files
import ManagedModel
import ManagedStore
import Rescue

/// Small stores with mutated pages, logs and journals, for ``Fuzzing``.
///
/// An input is a store of a few pages of 512 or 1,024 bytes, so that many are read in a short time, each by one of the
/// ways in which a store is looked at, doctor and undelete among them, and one of those in which it is saved.
public enum SalvageFuzzing {
  /// Reads whatever can be read of the bytes as a store. What was read last stays in the folder.
  ///
  /// - Parameter folder: where the stores are written; in memory, where there is room, as thousands follow each other.
  public static func target(in folder: TemporaryFolder) throws -> Fuzzing.Target {
    let path = folder.path("hostile.sqlite")
    let model = try PageSample.model()
    let samples = try PageSample.all(in: folder)
    let mutate: Fuzzing.Mutation = { bytes, generator in
      var input = PageInput(bytes)
      for _ in 0..<Int.random(in: 1...4, using: &generator) { input.mutate(using: &generator) }
      // What is right by its own checksums is believed.
      if Bool.random(using: &generator) { input.seal() }
      return input.bytes
    }
    return Fuzzing.Target(
      "pages of a store", corpus: samples.map(\.bytes), mutating: mutate
    ) { bytes in
      let input = PageInput(bytes)
      for kind in PageInput.Companion.allCases { FileSystem.remove(path + kind.suffix) }
      try FileSystem.write(input.main, to: path)
      if let kind = input.kind { try FileSystem.write(input.companion, to: path + kind.suffix) }
      var failure: (any Error)?
      for work in works(path, folder.path("saved.sqlite"), model, Int(input.choice)) {
        do { try work() } catch { failure = failure ?? error }
      }
      if let failure { throw failure }
    }
  }

  /// What a store goes through: one of the ways in which it is looked at, and one in which it is saved. Each goes on
  /// whatever the other says.
  private static func works(
    _ path: String, _ output: String, _ model: Model, _ choice: Int
  ) -> [() throws -> Void] {
    // A store that lost its model is read with one half of the time.
    let given = choice % 2 == 0 ? model : nil
    func saving(_ body: () throws -> Void) rethrows {
      defer { StoreSuffix.removeAll(of: output) }
      try body()
    }
    func salvage() throws {
      var options = StoreSalvage.Options()
      (options.model, options.log, options.tellsPages) = (given, .ownIfFitting, true)
      try saving { _ = try StoreSalvage.run(path: path, output: output, options: options) }
    }
    // Row by row, though pages could be copied.
    func copyRows() throws {
      let source = try SalvageSource(path: path, log: .ownIfFitting)
      try saving { _ = try SalvagedCopy(of: source, at: output, model: given) }
    }
    func undelete(thenRestore: Bool) throws {
      let undeletion = try Undeletion(of: path, model: given, log: .ownIfFitting)
      guard thenRestore else { return }
      try saving { _ = try Restoration(undeletion).run(.all(entity: nil), output: output) }
    }
    return switch choice / 2 % 6 {
    case 0: [{ try look(path) }, salvage]
    case 1: [{ _ = try Diagnosis(of: path) }, copyRows]
    case 2: [{ try undelete(thenRestore: true) }]
    case 3: [{ try look(path) }, copyRows]
    case 4: [{ _ = try Diagnosis(of: path) }, salvage]
    default: [{ try undelete(thenRestore: false) }, salvage]
    }
  }

  /// What `info` and `dump` do.
  private static func look(_ path: String) throws {
    let store = try Store(path: path)
    _ = try store.counts()
    for table in store.entityTables {
      let cursor = try ObjectCursor(store, entity: table.entity)
      while try cursor.next() != nil {}
    }
    _ = try store.externalData()
  }
}
