import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

@Suite("Classics: delete all posts and keep their comments")
struct DeletePostsTests {
  static func models(post: String) throws -> (Model, Model) {
    let text = """
      Post
        title String
        comments ->> Comment.post
      Comment
        message String
        post \(post) Post.comments
      """
    return (
      try Classics.model("1", text), try Classics.model("2", text + "\n  likes Integer 16 = 1")
    )
  }

  static func store(_ model: Model, in folder: TemporaryFolder, orphan: Bool) throws -> String {
    try Classics.store(model, in: folder) { writer in
      let one = try writer.insert("Post", attributes: ["title": .string("One")])
      let two = try writer.insert("Post", attributes: ["title": .string("Two")])
      for (message, post) in [("a", one), ("b", two), ("c", one)] {
        try writer.insert(
          "Comment", attributes: ["message": .string(message)], toOne: ["post": post])
      }
      if orphan { try writer.insert("Comment", attributes: ["message": .string("d")]) }
    }
  }

  enum Means: CaseIterable { case recipe, policy }

  static func plan(_ path: String, to model: Model, by means: Means) throws -> MigrationPlan {
    switch means {
    case .recipe: try Classics.plan(path, to: model, "{ source: 'Post', delete: true }")
    case .policy:
      try Classics.plan(
        path, to: model, "{ source: 'Post', destination: 'Post', policy: 'App.DeleteObjects' }",
        policies: ["App.DeleteObjects": DeleteObjects.self])
    }
  }

  @Test("comments stay, with no post", arguments: Means.allCases)
  func optional(means: Means) throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models(post: "->")
    let path = try Self.store(old, in: folder, orphan: true)
    let plan = try Self.plan(path, to: new, by: means)
    #expect(plan.failures == [])
    #expect(plan.unallowedLosses([]) == [])
    switch means {
    case .recipe: #expect(plan.losses.map { "\($0.name) \($0.values)" } == ["Post 2"])
    case .policy:
      #expect(plan.losses == [])
      #expect(
        plan.notes.contains(
          "A Swift policy decides what becomes of Post (PostToPost): what it leaves out is not known in advance."
        ))
    }
    let receipt = try StoreMigration.runAndRead(plan)
    #expect(
      try StoreDump.lines(at: path) == [
        "Comment/p1 likes=1 message=a post→∅", "Comment/p2 likes=1 message=b post→∅",
        "Comment/p3 likes=1 message=c post→∅", "Comment/p4 likes=1 message=d post→∅",
      ])
    #expect(receipt.entities.contains { $0.entity == "Post" && $0.after == 0 })
  }

  @Test("where a comment must have a post, plan and run refuse, with the rows and three ways out")
  func mandatory() throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models(post: "->!")
    let path = try Self.store(old, in: folder, orphan: false)
    let before = try folder.contents()
    let plan = try Self.plan(path, to: new, by: .recipe)
    let check = try #require(plan.failures.first)
    #expect(plan.failures.count == 1)
    #expect(check.code == 134110)
    #expect(check.entity == "Comment" && check.property == "post" && check.rows == 3)
    #expect(check.first.map(\.description) == ["Comment/p1", "Comment/p2", "Comment/p3"])
    #expect(
      check.hint
        == "Make Comment.post optional, set it in those rows first, or delete those objects too.")
    let error = #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
    #expect(error?.kind == .refused)
    #expect(
      error?.message.contains("in 3 rows (first: Comment/p1, Comment/p2, Comment/p3)") == true)
    #expect(try folder.contents() == before)
  }

  @Test("the same by a policy is refused when it has run, and nothing was changed")
  func mandatoryByPolicy() throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models(post: "->!")
    let path = try Self.store(old, in: folder, orphan: false)
    let before = try folder.contents()
    let plan = try Self.plan(path, to: new, by: .policy)
    let error = #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
    #expect(error?.kind == .refused && error?.code == 134110)
    #expect(error?.entity == "Comment" && error?.property == "post")
    #expect(
      error?.message.contains("in 3 rows (first: Comment/p1, Comment/p2, Comment/p3)") == true)
    #expect(error?.hint?.contains("delete those objects too") == true)
    #expect(try folder.contents() == before)
  }

  @Test("each of the three ways out is one")
  func waysOut() throws {
    let (old, new) = try Self.models(post: "->!")
    let optional = try Self.models(post: "->").1
    func migrate(_ text: String, to model: Model) throws -> [String] {
      let folder = try TemporaryFolder()
      return try Classics.migrate(
        Self.store(old, in: folder, orphan: false), to: model, text)
    }
    #expect(
      try migrate("{ source: 'Post', delete: true }, { source: 'Comment', delete: true }", to: new)
        == [])
    #expect(
      try migrate("{ source: 'Post', delete: true }", to: optional).count == 3)
    // One post stays, and takes the others' comments.
    #expect(
      try migrate(
        """
        { source: 'Post', destination: 'Post', where: "title = 'One'" },
        { source: 'Comment', destination: 'Comment', where: "post.title = 'One'" }
        """, to: new) == [
          "Comment/p1 likes=1 message=a post→Post/p1", "Comment/p3 likes=1 message=c post→Post/p1",
          "Post/p1 title=One comments→[Comment/p1 Comment/p3]",
        ])
  }
}
