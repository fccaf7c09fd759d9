// A greedy Cultist Wars bot: convert, else shoot, else walk. `agon rules cultist-wars` shows the rules.
//
// Above the line: reading the input, which you need not touch. Below it: what the bot does.
// Answers go to standard output, one line per turn. Anything for yourself goes to Console.Error.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

class Unit
{
    public int Id, Hp, X, Y, Owner;
    public bool Leads;

    public static Unit Read(string line)
    {
        int[] n = line.Split(' ').Select(int.Parse).ToArray();
        return new Unit { Id = n[0], Leads = n[1] == 1, Hp = n[2], X = n[3], Y = n[4], Owner = n[5] };
    }

    public int Distance(Unit other)
    {
        return Math.Abs(X - other.X) + Math.Abs(Y - other.Y);
    }
}

/// What stays the same for the whole match. A row is made of '.' floor and 'x' obstacle.
class Board
{
    public int Me;
    public List<string> Rows = new List<string>();
}

/// The contest's site wants this name.
class Player
{
    static void Main()
    {
        Play(Console.In, Console.WriteLine); // WriteLine flushes
    }

    /// Reads a match and answers each turn.
    public static void Play(TextReader input, Action<string> say)
    {
        var board = new Board { Me = int.Parse(input.ReadLine()) };
        int height = int.Parse(input.ReadLine().Split(' ')[1]);
        for (int y = 0; y < height; y++) board.Rows.Add(input.ReadLine());
        string line;
        while (!string.IsNullOrEmpty(line = input.ReadLine())) // until the match is over
        {
            int count = int.Parse(line);
            var units = new List<Unit>();
            for (int i = 0; i < count; i++) units.Add(Unit.Read(input.ReadLine()));
            say(Strategy.Answer(board, units));
        }
    }
}

// ------------------------------------------------------------------ your strategy

static class Strategy
{
    const int Neutral = 2;
    const int Range = 6;

    /// The order of this turn. Exactly one line: `WAIT`, `ID MOVE X Y`, `ID SHOOT TARGET` or `ID CONVERT TARGET`.
    public static string Answer(Board board, List<Unit> units)
    {
        Unit leader = units.FirstOrDefault(u => u.Leads && u.Owner == board.Me);
        var shooters = units.Where(u => !u.Leads && u.Owner == board.Me).ToList();
        var enemies = units.Where(u => u.Owner == 1 - board.Me).ToList();
        var wanted = units.Where(u => !u.Leads && u.Owner != board.Me).ToList();

        // 1. A cultist beside our leader becomes ours, an enemy's rather than a neutral one.
        if (leader != null)
        {
            Unit prey = wanted.Where(u => leader.Distance(u) == 1).OrderBy(u => u.Owner == Neutral).FirstOrDefault();
            if (prey != null) return leader.Id + " CONVERT " + prey.Id;
        }

        // 2. The shot that leaves its victim with the least health, if nothing is in the way.
        string shot = null, walk = "WAIT";
        int least = int.MaxValue, nearest = int.MaxValue;
        foreach (Unit u in shooters)
        {
            foreach (Unit enemy in enemies)
            {
                int steps = u.Distance(enemy), left = enemy.Hp - 7 + steps;
                if (steps <= Range && left < least && Clear(board, units, u, enemy))
                {
                    least = left;
                    shot = u.Id + " SHOOT " + enemy.Id;
                }
                if (steps < nearest)
                {
                    nearest = steps;
                    walk = u.Id + " MOVE " + enemy.X + " " + enemy.Y;
                }
            }
        }
        if (shot != null) return shot;

        // 3. Our leader goes to the nearest neutral; the referee finds the way.
        if (leader != null)
        {
            Unit prey = wanted.Where(u => u.Owner == Neutral).OrderBy(leader.Distance).FirstOrDefault();
            if (prey != null) return leader.Id + " CONVERT " + prey.Id;
        }

        // 4. The cultist nearest to an enemy goes there.
        return walk;
    }

    /// Whether nothing stands between a and b; the line is drawn from the upper end (CW-SHOOT-4).
    static bool Clear(Board board, List<Unit> units, Unit a, Unit b)
    {
        if (a.Y > b.Y) return Clear(board, units, b, a);
        int dx = Math.Abs(b.X - a.X), dy = b.Y - a.Y, step = a.X < b.X ? 1 : -1, gap = dx - dy;
        for (int x = a.X, y = a.Y; ; )
        {
            int twice = 2 * gap;
            if (twice > -dy)
            {
                gap -= dy;
                x += step;
            }
            if (twice < dx)
            {
                gap += dx;
                y++;
            }
            if (x == b.X && y == b.Y) return true;
            if (board.Rows[y][x] != '.' || units.Any(u => u.X == x && u.Y == y)) return false;
        }
    }
}
