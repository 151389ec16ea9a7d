import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

@Suite("Classics: split a name")
struct SplitNameTests {
  static let recipe = """
    { source: 'Transaction', destination: 'Transaction', where: 'amount <> 0',
      attributes: { firstName: "coalesce(split_part(fullName, ' ', 1), '')",
                    lastName: "coalesce(rest_after(fullName, ' '), '')" } }
    """
  static let policy =
    "{ source: 'Transaction', destination: 'Transaction', policy: 'Bank.SplitName' }"

  static func models() throws -> (Model, Model) {
    (
      try Classics.model(
        "1",
        """
        Transaction
          amount Decimal
          fullName String
          account -> Account.transactions
        Account
          name String
          transactions ->>> Transaction.account
        """),
      try Classics.model(
        "2",
        """
        Transaction
          amount Decimal
          firstName String!
          lastName String
          account -> Account.transactions
        Account
          name String
          transactions ->>> Transaction.account
        """)
    )
  }

  static func store(_ model: Model, in folder: TemporaryFolder) throws -> String {
    try Classics.store(model, in: folder) { writer in
      let account = try writer.insert("Account", attributes: ["name": .string("Main")])
      for (index, (name, amount)) in [
        ("Ada Lovelace", "1.5"), ("Plato", "-2"), ("Nobody At All", "0"),
        ("Jean Luc O'Picard", "7"),
      ].enumerated() {
        try writer.insert(
          "Transaction", attributes: ["fullName": .string(name), "amount": .decimal(amount)],
          toOne: ["account": account], positions: ["account": 9 - index])
      }
      try writer.insert("Transaction", attributes: ["amount": .decimal("3")])
      try writer.insert("Transaction", attributes: ["fullName": .string("No Amount")])
    }
  }

  static let result = [
    "Transaction/p1 amount=1.5 firstName=Ada lastName=Lovelace account→Account/p1",
    "Transaction/p2 amount=-2 firstName=Plato lastName= account→Account/p1",
    "Transaction/p4 amount=7 firstName=Jean lastName=Luc O'Picard account→Account/p1",
    "Transaction/p5 amount=3 firstName= lastName= account→∅",
    "Account/p1 name=Main transactions→[Transaction/p4 Transaction/p2 Transaction/p1]",
  ]

  @Test("by a recipe, whose plan shows the first rows before and after")
  func recipe() throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models()
    let path = try Self.store(old, in: folder)
    let plan = try Classics.plan(path, to: new, Self.recipe)
    #expect(
      plan.losses.map { "\($0.name) \($0.values) \($0.isIntended)" } == ["Transaction 2 true"])
    let preview = try #require(plan.steps.first?.previews.first)
    #expect(preview.source?.description == "Transaction/p1")
    #expect(preview.after.contains(.init(name: "lastName", value: "Lovelace")))
    _ = try StoreMigration.runAndRead(plan)
    #expect(try StoreDump.lines(at: path).sorted() == Self.result.sorted())
  }

  @Test("by a policy, to the same result")
  func policy() throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models()
    let lines = try Classics.migrate(
      Self.store(old, in: folder), to: new, Self.policy,
      policies: ["Bank.SplitName": SplitName.self])
    #expect(lines.sorted() == Self.result.sorted())
  }
}
