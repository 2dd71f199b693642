// What the two speakers of the sample say. Written for this project; see README.md for its licence.

/** Voices of espeak-ng, and where each speaker sits between the left (0) and the right (1) microphone. */
export const SPEAKERS = {
  ada: { voice: 'en-gb+f3', wordsPerMinute: 172, pan: 0.2 },
  ben: { voice: 'en-us+m3', wordsPerMinute: 165, pan: 0.8 },
};

/** Quiet at the start and the end, in seconds. */
export const LEAD_SECONDS = 0.8;
export const TRAIL_SECONDS = 7.5;

/**
 * The turns in order. `pause` is the time in seconds from the end of the turn before; a negative one overlaps it. A turn
 * without a text is a rustle of paper, transcribed as nothing. `itn` is the text with numbers written as digits.
 */
export const TURNS = [
  { speaker: 'ada', pause: 0, text: 'Good morning Ben. Shall we plan the trip to the marsh?' },
  { speaker: 'ben', pause: 0.4, text: 'Good morning. Yes, I have the tide table right here.' },
  { speaker: 'ada', pause: 0.3, text: 'Lovely. When is low water on Thursday?' },
  {
    speaker: 'ben',
    pause: 1.1,
    text: 'Low water is at six forty in the morning, about ten minutes after sunrise.',
    itn: 'Low water is at 6:40 in the morning, about 10 minutes after sunrise.',
  },
  {
    speaker: 'ada',
    pause: 0.5,
    text: 'Then we should have the microphones out before six.',
    itn: 'Then we should have the microphones out before 6.',
  },
  {
    speaker: 'ben',
    pause: 0.2,
    text: 'That means leaving the house at half past four.',
    itn: 'That means leaving the house at 4:30.',
  },
  { speaker: 'ada', pause: 0.9, text: 'I will bring coffee.' },
  { speaker: 'ben', pause: 0.3, text: 'Bring a lot of it.' },
  { speaker: 'ada', pause: 1.6, text: 'Which birds are we hoping for this time?' },
  { speaker: 'ben', pause: 0.6, text: 'Curlews mostly, and with some luck a bittern from the reeds on the far side.' },
  { speaker: 'ada', pause: 0.4, text: 'Let me find the map, it is somewhere in this pile.' },
  { speaker: 'ada', pause: 1.2, seconds: 1.4 },
  { speaker: 'ada', pause: 4.1, text: 'Here it is. The path ends at the old pump house.' },
  {
    speaker: 'ben',
    pause: 0.5,
    text: 'We can park there and walk the last kilometre along the dyke.',
    itn: 'We can park there and walk the last 1 km along the dyke.',
  },
  { speaker: 'ada', pause: 0.3, text: 'Is the wind going to be a problem on the dyke, or do the reeds' },
  { speaker: 'ben', pause: -1.3, text: 'The forecast says almost no wind until noon.' },
  { speaker: 'ada', pause: 0.8, text: 'Perfect. Then read me your packing list, please, all of it.' },
  {
    speaker: 'ben',
    pause: 0.9,
    text:
      'All right, here is everything. Two recorders with fresh cards, the stereo pair in the blimp, the spare pair without it, ' +
      'four clamps, the short stand, the long stand, two long cables and four short ones, the grey tape and the black tape, ' +
      'headphones for each of us, the small torch, the big torch, a notebook with waterproof paper, three pencils, a towel, ' +
      'dry socks, the folding chairs, a blanket for the car, sandwiches, apples, the blue flask and the red flask, the map, ' +
      'the compass, and the permit from the nature reserve, which has to lie behind the windscreen the whole time.',
  },
  { speaker: 'ada', pause: 0.7, text: 'That is a lot for one car.' },
  { speaker: 'ben', pause: 0.5, text: 'We have carried more. Wait, the recorder is playing my own voice back to me.' },
  { speaker: 'ben', pause: 2.2, text: Array.from({ length: 14 }, () => 'check the batteries').join(', ') + '.' },
  { speaker: 'ada', pause: 0.6, text: 'Turn it off, turn it off.' },
  { speaker: 'ben', pause: 6.4, text: 'Sorry about that. It was still looping the note from last week.' },
  { speaker: 'ada', pause: 0.4, text: 'At least now nobody will forget the batteries.' },
  { speaker: 'ben', pause: 0.5, text: 'How long do you want to record in one go?' },
  {
    speaker: 'ada',
    pause: 0.8,
    text: 'Three hours without a break, and then we listen to the quiet parts at home.',
    itn: '3 hours without a break, and then we listen to the quiet parts at home.',
  },
  {
    speaker: 'ben',
    pause: 0.3,
    text: 'Three hours at forty eight kilohertz will fit on one card easily.',
    itn: '3 hours at 48 kHz will fit on 1 card easily.',
  },
  { speaker: 'ada', pause: 1.3, text: 'And who writes down what we hear?' },
  {
    speaker: 'ben',
    pause: 0.4,
    text: 'You do the first half, I do the second. We note the time and the bird, nothing else.',
  },
  { speaker: 'ben', pause: 1.8, text: 'One more thing. The farmer asked us to close the gate behind the pump house.' },
  { speaker: 'ada', pause: -0.25, text: 'Of course. There are young cattle on the meadow in spring.' },
  {
    speaker: 'ben',
    pause: 0.6,
    text: 'And if it rains after all, we record from inside the car with the window open a little.',
  },
  { speaker: 'ada', pause: 0.4, text: 'Rain on a car roof is a fine recording too.' },
  { speaker: 'ben', pause: 2.9, text: 'Do you still have that long cable with the loose plug?' },
  { speaker: 'ada', pause: 0.7, text: 'I soldered it on Sunday. It has worked ever since, even when you step on it.' },
  { speaker: 'ben', pause: 0.3, text: 'Then nothing can go wrong.' },
  { speaker: 'ada', pause: 1.2, text: 'Something always goes wrong, and that is usually the best part of the tape.' },
  { speaker: 'ada', pause: 0.5, text: 'Right. I will set two alarms.', itn: 'Right. I will set 2 alarms.' },
  { speaker: 'ben', pause: 0.3, text: 'Set three. See you on Thursday.', itn: 'Set 3. See you on Thursday.' },
];
