// Feeds the bot a recorded match and small positions.
// Run it with: mcs -main:BotTest -out:test/run.exe bot.cs test/test.cs && mono test/run.exe
//
// test/input.txt is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

static class BotTest
{
    static int failures = 0;

    static int Main()
    {
        RecordedMatch(File.ReadAllText("test/input.txt"));
        // A neighbour is converted.
        Expect(Position(0, new[] { "0 1 10 3 3 0", "5 0 10 4 3 2" }), "0 CONVERT 5");
        // An enemy in range is shot, but not through a wall.
        string[] units = { "1 1 10 12 3 1", "9 0 10 8 3 1", "0 1 10 5 3 0" };
        Expect(Position(1, units), "9 SHOOT 0");
        Expect(Position(1, units, 6, 3), "9 MOVE 5 3");
        // A lone leader waits.
        Expect(Position(0, new[] { "0 1 10 3 3 0", "1 1 10 12 3 1" }), "WAIT");
        Console.WriteLine(failures == 0 ? "ok" : failures + " failed");
        return failures == 0 ? 0 : 1;
    }

    static void RecordedMatch(string recorded)
    {
        var said = new List<string>();
        Player.Play(new StringReader(recorded), said.Add);
        var input = new StringReader(recorded);
        input.ReadLine();
        int height = int.Parse(input.ReadLine().Split(' ')[1]);
        for (int y = 0; y < height; y++) input.ReadLine();
        int turn = 0;
        string line;
        for (; !string.IsNullOrEmpty(line = input.ReadLine()); turn++)
        {
            int count = int.Parse(line);
            var units = Enumerable.Range(0, count).Select(_ => Unit.Read(input.ReadLine())).ToList();
            string answer = turn < said.Count ? said[turn] : "nothing";
            Check(IsLegal(answer, units), answer + " in turn " + turn);
        }
        Check(turn > 0 && turn == said.Count, said.Count + " answers to " + turn + " turns");
    }

    static bool IsLegal(string answer, List<Unit> units)
    {
        if (answer == "WAIT") return true;
        string[] words = answer.Split(' ');
        if (words.Length < 3) return false;
        int id = int.Parse(words[0]), first = int.Parse(words[2]);
        Unit own = units.FirstOrDefault(u => u.Id == id && u.Owner == 0);
        if (own == null) return false;
        if (words[1] == "MOVE")
        {
            int y = int.Parse(words[3]);
            return first >= 0 && first < 13 && y >= 0 && y < 7;
        }
        return words[1] == (own.Leads ? "CONVERT" : "SHOOT") && units.Any(u => u.Id == first && u.Owner != 0);
    }

    /// The answer on a small board, each unit written as the referee writes it; a wall, if one is named.
    static string Position(int me, string[] units, params int[] wall)
    {
        var board = new Board { Me = me, Rows = Enumerable.Repeat(new string('.', 13), 7).ToList() };
        if (wall.Length == 2) board.Rows[wall[1]] = new string('.', wall[0]) + "x" + new string('.', 12 - wall[0]);
        return Strategy.Answer(board, units.Select(Unit.Read).ToList());
    }

    static void Expect(string got, string wanted)
    {
        Check(got == wanted, got + ", not " + wanted);
    }

    static void Check(bool good, string what)
    {
        if (good) return;
        Console.WriteLine("FAILED: " + what);
        failures++;
    }
}
